//! `flashdrill check`: judge a saved run again.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::exit::Exit;
use crate::drill::folder::RunFolder;
use crate::drill::judge;

#[derive(Debug, ClapArgs)]
pub struct Args {
    /// A run folder, such as results/latest.
    run: PathBuf,
}

pub fn run(args: &Args) -> Exit {
    let folder = RunFolder::open(&args.run);
    match judge::judge_folder(folder) {
        Ok(finished) => {
            say!("{}", finished.summary());
            finished.judgement.verdict.into()
        }
        Err(error) => Exit::usage(&error),
    }
}
