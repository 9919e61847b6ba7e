//! What every command that runs drills is told: where they are, where results go, what the servers run as.

use std::path::PathBuf;

use clap::Args;

use super::exit::Exit;
use super::setting::SettingArgs;
use crate::drill::catalogue;

#[derive(Debug, Args)]
pub struct Workplace {
    #[command(flatten)]
    pub catalogue: CatalogueArgs,
    /// Where run folders and tables are written.
    #[arg(long, default_value = "results")]
    pub results: PathBuf,
    #[command(flatten)]
    pub setting: SettingArgs,
}

#[derive(Debug, Args)]
pub struct CatalogueArgs {
    /// Folder of the drill files, with its targets.
    #[arg(long, default_value = "drills")]
    pub drills: PathBuf,
}

impl CatalogueArgs {
    /// Files of the drills that the words name.
    pub fn named(&self, words: &[String]) -> Vec<PathBuf> {
        let words = words.iter();
        words
            .map(|word| catalogue::find(&self.drills, word))
            .collect()
    }

    /// Files of every drill in the folder.
    ///
    /// # Errors
    /// The exit code, after the reason was printed.
    pub fn all(&self) -> Result<Vec<PathBuf>, Exit> {
        catalogue::all(&self.drills).map_err(|error| {
            Exit::usage(&format!("cannot read {}: {error}", self.drills.display()))
        })
    }
}
