//! `flashdrill prove`: drills against the mutants that they must catch.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::exit::Exit;
use super::session::{self, Session};
use crate::drill::catalogue;
use crate::drill::fit::Fit;
use crate::environment::Setting;
use crate::prove::{self, Order};

#[derive(Debug, ClapArgs)]
pub struct Args {
    /// Drill files or names; without any, every drill that names a mutant.
    drills: Vec<String>,
    /// Only these mutants.
    #[arg(long = "mutant")]
    mutants: Vec<String>,
    /// Shrink rate and duration by each drill's [short] section.
    #[arg(long)]
    short: bool,
    /// Root of every random stream.
    #[arg(long)]
    seed: Option<u64>,
    /// Folder of the drill files.
    #[arg(long, default_value = "drills")]
    folder: PathBuf,
    /// Where run folders and the table are written.
    #[arg(long, default_value = "results")]
    results: PathBuf,
    #[command(flatten)]
    setting: Setting,
}

pub async fn run(args: Args) -> Exit {
    let files = if args.drills.is_empty() {
        catalogue::all(&args.folder)
    } else {
        Ok(args
            .drills
            .iter()
            .map(|word| catalogue::find(&args.folder, word))
            .collect())
    };
    let files = match files {
        Ok(files) => files,
        Err(error) => {
            return Exit::usage(&format!("cannot read {}: {error}", args.folder.display()));
        }
    };
    let order = Order {
        mutants: args.mutants,
        short: args.short,
        seed: args.seed,
    };
    let jobs = match prove::jobs(&files, &order) {
        Ok(jobs) => jobs,
        Err(error) => return Exit::usage(&error),
    };
    if let Err(exit) = session::accept(jobs.iter().map(|job| &job.plan), args.setting) {
        return exit;
    }
    let session = match Session::start(&args.results, args.setting, Fit::AsWritten).await {
        Ok(session) => session,
        Err(exit) => return exit,
    };
    let matrix = prove::run(&session.stack, jobs, &session.bench).await;
    let last = matrix.as_ref().ok().and_then(|matrix| matrix.rows.last());
    let end = session.stop(last.map(|row| row.run.as_str())).await;
    match matrix {
        Ok(matrix) => {
            println!("{}", matrix.table());
            end.or(matrix.verdict().into())
        }
        Err(error) => Exit::of_run_error(&error),
    }
}
