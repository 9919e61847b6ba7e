//! `flashdrill prove`: drills against the mutants that they must catch.

use clap::Args as ClapArgs;

use super::exit::Exit;
use super::session::{self, Session};
use super::workplace::Workplace;
use crate::drill::fit::Fit;
use crate::prove::{self, Job, Order, Progress};

#[derive(Debug, ClapArgs)]
pub struct Args {
    /// Drill files or names; without any, every drill that names a mutant or a variant.
    #[arg(value_name = "DRILLS")]
    files: Vec<String>,
    /// Only these mutants.
    #[arg(long = "mutant")]
    mutants: Vec<String>,
    /// Go on where the last proof in the results folder ended; what it found of the same drill, mutant and program
    /// stands.
    #[arg(long)]
    resume: bool,
    /// Shrink rate and duration by each drill's [short] section.
    #[arg(long)]
    short: bool,
    /// Prove them on this target instead: a name in drills/targets, or the path of a target file.
    #[arg(long)]
    target: Option<String>,
    /// Prove them only under this variant of the target; without it as they are, and under every variant they name.
    #[arg(long)]
    variant: Option<String>,
    /// Root of every random stream.
    #[arg(long)]
    seed: Option<u64>,
    #[command(flatten)]
    workplace: Workplace,
}

pub async fn run(args: Args) -> Exit {
    prove(args).await.unwrap_or_else(|exit| exit)
}

/// # Errors
/// The exit code, when nothing was run.
async fn prove(args: Args) -> Result<Exit, Exit> {
    let Workplace {
        results, setting, ..
    } = &args.workplace;
    let setting = setting.read()?;
    let jobs = jobs(&args)?;
    session::accept(jobs.iter().map(|job| &job.plan), &setting)?;
    let progress = match args.resume {
        true => Progress::resumed(results).map_err(|error| Exit::usage(&error))?,
        false => Progress::new(results),
    };
    let session = Session::start(results, setting, Fit::AsWritten).await?;
    let matrix = prove::run(&session.stack, &jobs, &session.bench, progress).await;
    let last = matrix
        .as_ref()
        .ok()
        .and_then(|matrix| matrix.last_run.as_deref());
    let end = session.stop(last).await;
    Ok(match matrix {
        Ok(matrix) => {
            say!("{}", matrix.table());
            end.or(matrix.verdict().into())
        }
        Err(error) => Exit::of_run_error(&error),
    })
}

fn jobs(args: &Args) -> Result<Vec<Job>, Exit> {
    let catalogue = &args.workplace.catalogue;
    let files = match args.files.as_slice() {
        [] => catalogue.all()?,
        words => catalogue.named(words),
    };
    let order = Order {
        mutants: args.mutants.clone(),
        short: args.short,
        target: args.target.clone(),
        variant: args.variant.clone(),
        seed: args.seed,
    };
    prove::jobs(&files, &order).map_err(|error| Exit::usage(&error))
}
