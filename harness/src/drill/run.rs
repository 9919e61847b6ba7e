//! One run of a drill: the table of contents of the whole pipeline.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::clean_room;
use super::file::FileError;
use super::fit::{self, Fit, FitError};
use super::folder::{FolderError, RunFolder};
use super::judge::{Finished, JudgeError, RunAbout, judge_folder};
use super::last_call::{Shop, last_call};
use super::narrate::Narrate;
use super::plan::Plan;
use super::prepare::{self, PrepareError, Prepared};
use super::queue::Queue;
use super::sell::{self, SellError};
use crate::environment::{CleanRoom, EnvironmentError, Leftover, LeftoverKind, Stack};
use crate::history::final_state::FinalState;
use crate::observe::{SettleOptions, Settled, StoreReader, settle};

/// How long beyond the allowed time the stores are waited for.
const LATE_FOR: Duration = Duration::from_secs(15);

/// What is the same for every run of one command.
pub struct Bench {
    pub results: PathBuf,
    /// Where the service's binaries are.
    pub bin_dir: PathBuf,
    pub fit: Fit,
    pub narrate: Arc<dyn Narrate>,
    /// Set by Ctrl-C: load stops, faults are healed, evidence is saved, the verdict is inconclusive.
    pub cancel: Arc<AtomicBool>,
}

/// A run that could not be carried through. Evidence collected so far is in the run folder.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    #[error(transparent)]
    Fit(#[from] FitError),
    #[error(transparent)]
    Sell(#[from] SellError),
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error(transparent)]
    File(FileError),
    #[error(transparent)]
    Judge(#[from] JudgeError),
    #[error("{error}; left behind: {}", words(.left))]
    LeftBehind {
        error: Box<RunError>,
        left: Vec<Leftover>,
    },
}

fn words(left: &[Leftover]) -> String {
    let words: Vec<_> = left.iter().map(ToString::to_string).collect();
    words.join(", ")
}

/// Runs `plan` on a stack that is up, and judges it.
///
/// # Errors
/// The service or a store could not be brought to the start line, or evidence could not be saved.
pub async fn run(
    stack: &Arc<Stack>,
    plan: &Plan,
    mutant: Option<&str>,
    bench: &Bench,
) -> Result<Finished, RunError> {
    let folder = RunFolder::create(&bench.results, &plan.sale.id)?;
    folder.save(RunFolder::PLAN, plan)?;
    folder.save(RunFolder::ABOUT, &RunAbout::now(&plan.sale.id, mutant))?;
    bench.narrate.say(&headline(plan, mutant));
    let done = carry_out(stack, plan, mutant, bench, &folder).await;
    let room = clean_room::after_run(stack, &folder).await?;
    match done {
        Ok(()) => {
            bench.narrate.say("judging");
            Ok(judge_folder(folder)?)
        }
        Err(error) => Err(with_leftovers(error, room)),
    }
}

/// What was left is told beside what went wrong. A scan that the same trouble made impossible is not.
fn with_leftovers(error: RunError, room: CleanRoom) -> RunError {
    let mut left = room.after_run;
    left.retain(|one| one.kind != LeftoverKind::Unknown);
    if left.is_empty() {
        return error;
    }
    RunError::LeftBehind {
        error: Box::new(error),
        left,
    }
}

/// From the empty stack to the last reading; nothing of the service is left running.
async fn carry_out(
    stack: &Arc<Stack>,
    plan: &Plan,
    mutant: Option<&str>,
    bench: &Bench,
    folder: &RunFolder,
) -> Result<(), RunError> {
    stack.reset().await?;
    folder.save(RunFolder::ENVIRONMENT, &surroundings(stack, bench).await)?;
    folder.save(RunFolder::GUARANTEES, &stack.guarantees())?;
    let prepared = prepare::start_services(stack, plan, mutant, &bench.bin_dir, folder).await?;
    let collected = collect(stack, plan, &prepared, bench, folder).await;
    prepared.stop().await;
    collected
}

/// What the run's times depend on.
async fn surroundings(stack: &Stack, bench: &Bench) -> BTreeMap<String, String> {
    let mut known = stack.versions();
    if let Some(flush) = stack.disk_flush().await {
        if let Some(warning) = flush.warning(stack.scratch()) {
            bench.narrate.say(&warning);
        }
        known.insert("disk".to_owned(), flush.to_string());
    }
    known
}

fn headline(plan: &Plan, mutant: Option<&str>) -> String {
    let variant = mutant
        .map(|mutant| format!(" against mutant {mutant}"))
        .unwrap_or_default();
    format!(
        "{}{variant}: {} (seed {})",
        plan.drill, plan.title, plan.seed
    )
}

/// Sells, breaks, heals, waits for rest; everything seen is in the folder afterwards.
async fn collect(
    stack: &Arc<Stack>,
    plan: &Plan,
    prepared: &Prepared,
    bench: &Bench,
    folder: &RunFolder,
) -> Result<(), RunError> {
    prepare::prepare_sale(prepared, plan).await?;
    let plan = &match bench.fit {
        Fit::AsWritten => plan.clone(),
        Fit::ToMachine => fit::fitted(stack, plan, prepared, bench).await?,
    };
    folder.save(RunFolder::PLAN, plan)?;
    if plan.sale.opens_at_ms == 0 {
        prepare::open_sale(prepared, plan).await?;
    }
    let mut reader = prepare::store_reader(prepared, plan)?;
    let queue = Queue::new(stack, plan, prepared).map_err(PrepareError::from)?;
    let backlog = async || queue.backlog().await;
    let start = reader.read_all(&backlog).await;
    bench.narrate.say(match plan.sale.opens_at_ms {
        0 => "sale open; load starts",
        _ => "sale prepared; load starts",
    });
    let sold = sell::sell(stack, plan, prepared, bench, folder).await?;
    bench
        .narrate
        .say("load ended, faults healed; waiting for the stores to come to rest");
    let mut settled = settle_after(&mut reader, plan, &backlog, sold.rest_since).await;
    let shop = Shop {
        plan,
        prepared,
        bench,
        folder,
        start: sold.start,
        epoch: &sold.epoch,
    };
    let call = last_call(shop, &settled, &mut reader).await?;
    if plan.expect.sell_out {
        folder.save(RunFolder::LAST_CALL, &call)?;
    }
    if call.is_some() {
        let again = settle_after(&mut reader, plan, &backlog, Instant::now()).await;
        settled = settled.followed_by(again);
    }
    let stores = FinalState {
        start,
        end: settled.end,
        converged_ms: settled.converged_ms,
    };
    folder.save(RunFolder::STORES, &stores)?;
    if let Some(fields) = &plan.target.alerts {
        let alerts = prepared.alerts.received(fields, sold.start);
        folder.save(RunFolder::ALERTS, &alerts)?;
    }
    Ok(())
}

async fn settle_after<B, F>(
    reader: &mut StoreReader,
    plan: &Plan,
    backlog: &B,
    since: Instant,
) -> Settled
where
    B: Fn() -> F,
    F: Future<Output = Result<u64, String>>,
{
    // Longer than allowed, so that lateness is measured and not guessed.
    let give_up = Duration::from_millis(plan.expect.converge_ms_max) + LATE_FOR;
    let horizon = Duration::from_millis(plan.target.state.settle_horizon_ms);
    settle(
        reader,
        plan,
        backlog,
        &SettleOptions::new(since, give_up, horizon),
    )
    .await
}
