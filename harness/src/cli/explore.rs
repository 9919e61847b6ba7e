//! `flashdrill explore`: random drills of one seed.

use std::time::Duration;

use clap::Args as ClapArgs;

use super::exit::Exit;
use super::session::Session;
use super::workplace::Workplace;
use crate::drill::fit::Fit;
use crate::drill::range::Count;
use crate::drill::resolve::fresh_seed;
use crate::drill::resolve::target::place;
use crate::explore::{ExploreError, Lab, Order, explore};
use crate::target;

#[derive(Debug, ClapArgs)]
pub struct Args {
    /// Draws the drills: load shapes, buyers, faults and their times. Without it: a new one, which is printed.
    #[arg(long)]
    seed: Option<u64>,
    /// New drills are begun for so long; a failure that was found is still replayed and made smaller.
    #[arg(long, default_value = "10", value_parser = minutes)]
    minutes: Count,
    /// How often a failure is run again as it was, to see how often it repeats.
    #[arg(long, default_value_t = 3)]
    replays: u64,
    /// Runs that may be spent on making a failure smaller.
    #[arg(long, default_value_t = 10)]
    shrink_runs: u64,
    /// What is explored: a name in drills/targets, or the path of a target file.
    #[arg(long, default_value = "flashsale")]
    target: String,
    /// Explore the service's broken variant of this name, to see whether it is found.
    #[arg(long)]
    mutant: Option<String>,
    #[command(flatten)]
    workplace: Workplace,
}

fn minutes(text: &str) -> Result<Count, String> {
    let minutes = text
        .parse()
        .map_err(|_| format!("`{text}` is no whole number"))?;
    Count::new(minutes).map_err(|wrong| wrong.0)
}

pub async fn run(args: Args) -> Exit {
    explored(args).await.unwrap_or_else(|exit| exit)
}

/// # Errors
/// The exit code, when nothing was run.
async fn explored(args: Args) -> Result<Exit, Exit> {
    let Workplace {
        catalogue,
        results,
        setting,
    } = &args.workplace;
    let setting = setting.read()?;
    let target_file = place(&catalogue.drills, &args.target);
    let order = Order {
        seed: args.seed.unwrap_or_else(fresh_seed),
        time: Duration::from_secs(60 * u64::from(args.minutes.get())),
        target: target::file::load(&target_file).map_err(|error| Exit::usage(&error))?,
        target_file: target_file.display().to_string(),
        mutant: args.mutant,
        replays: args.replays,
        shrink_runs: args.shrink_runs,
    };
    let session = Session::start(results, setting, Fit::AsWritten).await?;
    session
        .bench
        .narrate
        .say(&format!("exploring with seed {}", order.seed));
    let lab = Lab::new(&session.stack, &session.bench, &order);
    let mut lab = lab.map_err(|error| Exit::internal(&error))?;
    let summary = explore(&mut lab).await;
    let folder = lab.folder().to_owned();
    let last = summary.as_ref().ok().and_then(|found| found.drills.last());
    let last = last.map(|drill| drill.run.clone());
    let end = session.stop(last.as_deref()).await;
    Ok(match summary {
        Ok(summary) => {
            say!(
                "{}\n{}",
                summary.to_text(),
                folder.join("explore.md").display()
            );
            end.or(summary.verdict().into())
        }
        Err(error) => exit_of(&error),
    })
}

fn exit_of(error: &ExploreError) -> Exit {
    match error {
        ExploreError::File(_) => Exit::usage(error),
        ExploreError::Broken { .. } => Exit::unavailable(error),
        ExploreError::Folder(_) | ExploreError::Toml(_) => Exit::internal(error),
    }
}
