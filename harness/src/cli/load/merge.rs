//! `flashdrill load merge`: the results of several generators as one.

use std::path::{Path, PathBuf};

use super::gate::Gate;
use super::result::LoadResult;
use crate::cli::exit::Exit;

#[derive(Debug, clap::Args)]
pub struct MergeArgs {
    /// Results saved by `flashdrill load --json`, of generators that were started together.
    #[arg(required = true, num_args = 1..)]
    files: Vec<PathBuf>,
    /// What must hold for all together; see `flashdrill load --help`.
    #[arg(long = "slo", value_name = "GATE")]
    gates: Vec<Gate>,
    /// Saves the sum, which can be merged again; - is stdout.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Saves the response times as an HdrHistogram log.
    #[arg(long, value_name = "FILE")]
    hdr: Option<PathBuf>,
}

/// Histograms add exactly, so percentiles are those that one generator would have seen.
pub fn run(args: &MergeArgs) -> Exit {
    let sum = match merged(&args.files) {
        Ok(sum) => sum,
        Err(problems) => return Exit::usage(&format!("load merge: {}", problems.join("\n  "))),
    };
    match sum.save(args.json.as_deref(), args.hdr.as_deref()) {
        Ok(()) => sum.conclude(&args.gates, args.json.as_deref() == Some(Path::new("-"))),
        Err(error) => Exit::internal(&error),
    }
}

/// The sum of all files, or what is wrong with each that cannot be part of it.
fn merged(files: &[PathBuf]) -> Result<LoadResult, Vec<String>> {
    let mut problems = Vec::new();
    let mut sum: Option<LoadResult> = None;
    for path in files {
        match (LoadResult::read(path), &mut sum) {
            (Ok(first), None) => sum = Some(first),
            (Ok(next), Some(sum)) => {
                if let Err(error) = sum.figures.add(&next.figures) {
                    problems.push(format!("{}: {error}", path.display()));
                }
            }
            (Err(error), _) => problems.push(error.to_string()),
        }
    }
    match sum {
        Some(sum) if problems.is_empty() => {
            let about = format!("{} generators: {}", files.len(), sum.about);
            Ok(LoadResult::new(about, sum.figures))
        }
        _ => Err(problems),
    }
}
