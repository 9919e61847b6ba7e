//! The part of a run in which everything happens at once: load, journeys, faults, samples.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::folder::{FolderError, RunFolder};
use super::narrate::Narrate;
use super::plan::Plan;
use super::prepare::{self, PrepareError, Prepared};
use super::run::Bench;
use crate::environment::{EnvironmentError, Stack};
use crate::faults::{self, FaultEvent};
use crate::history::{HistoryError, HistoryWriter};
use crate::journeys::{JourneyError, JourneyJob, JourneySummary, Journeying};
use crate::load::summary::LoadSummary;
use crate::load::{self, LoadError, LoadJob, Progress, reason};
use crate::observe::{ObserveError, Sampler, SamplerOptions};

/// Time between the decision to start and the first arrival: connections are opened in it.
const LEAD_IN: Duration = Duration::from_millis(500);
const SAMPLE_EVERY: Duration = Duration::from_millis(500);
const LIVE_EVERY: Duration = Duration::from_millis(500);

/// The load could not be offered or recorded.
#[derive(Debug, thiserror::Error)]
pub enum SellError {
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error(transparent)]
    Journeys(#[from] JourneyError),
    #[error(transparent)]
    History(#[from] HistoryError),
    #[error(transparent)]
    Observe(#[from] ObserveError),
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error("the load's or the journeys' thread died: {0}")]
    Thread(#[from] tokio::task::JoinError),
}

/// What the rest of the run needs to know; the evidence itself is in the folder.
#[derive(Debug)]
pub struct Sold {
    /// The load had ended and every fault was healed.
    pub rest_since: Instant,
}

/// Offers the load, lets buyers go their ways beside it, injects and heals the faults on its timeline,
/// takes samples.
///
/// # Errors
/// The load could not be offered or recorded. Faults are healed all the same.
pub async fn sell(
    stack: &Arc<Stack>,
    plan: &Plan,
    prepared: &Prepared,
    bench: &Bench,
    folder: &RunFolder,
) -> Result<Sold, SellError> {
    let start = Instant::now() + LEAD_IN;
    let meter = Arc::clone(stack);
    let cpu = move || meter.cpu_ms();
    let options = SamplerOptions {
        start,
        every: SAMPLE_EVERY,
        file: folder.file(RunFolder::SAMPLES),
    };
    let sampler = Sampler::start(prepare::store_reader(prepared, plan)?, options, cpu)?;
    let progress = Arc::new(Progress::default());
    let journeys = journeys(plan, prepared, bench, folder, start)?;
    let load = tokio::task::spawn_blocking(offer(plan, prepared, bench, folder, start, &progress)?);
    let faults = faults::run(
        &plan.faults,
        stack,
        &plan.target,
        &prepared.variables,
        start,
        &bench.cancel,
    );
    let journeys = make(journeys);
    let watch = watch(&progress, start, &*bench.narrate);
    let (load, journeys, events) = tokio::select! {
        all = async { tokio::join!(load, journeys, faults) } => all,
        never = watch => match never {},
    };
    let healed = faults::heal_all(stack).await;
    let rest_since = Instant::now();
    sampler.stop().await?;
    save(folder, &load??, &events)?;
    if let Some(journeys) = journeys? {
        folder.save(RunFolder::JOURNEYS, &journeys)?;
    }
    healed?;
    Ok(Sold { rest_since })
}

/// The journeys of the plan, where it has any.
fn journeys(
    plan: &Plan,
    prepared: &Prepared,
    bench: &Bench,
    folder: &RunFolder,
    start: Instant,
) -> Result<Option<Journeying>, SellError> {
    let Some(journeys) = &plan.journeys else {
        return Ok(None);
    };
    let job = JourneyJob {
        plan,
        journeys,
        address: address(prepared),
        variables: prepared.variables.clone(),
        history: history(folder, RunFolder::JOURNEY_HISTORY, plan)?,
        start,
        cancel: Arc::clone(&bench.cancel),
    };
    Ok(Some(job.prepare()?))
}

async fn make(journeys: Option<Journeying>) -> Result<Option<JourneySummary>, SellError> {
    let Some(journeys) = journeys else {
        return Ok(None);
    };
    let made = tokio::task::spawn_blocking(move || journeys.run()).await?;
    Ok(Some(made))
}

fn address(prepared: &Prepared) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], prepared.service.port))
}

fn history(folder: &RunFolder, name: &str, plan: &Plan) -> Result<HistoryWriter, HistoryError> {
    HistoryWriter::create(&folder.file(name), plan.seed, reason::reasons(&plan.target))
}

/// The load as a job for a thread of its own.
fn offer(
    plan: &Plan,
    prepared: &Prepared,
    bench: &Bench,
    folder: &RunFolder,
    start: Instant,
    progress: &Arc<Progress>,
) -> Result<impl FnOnce() -> Result<LoadSummary, LoadError> + Send + 'static, SellError> {
    let history = history(folder, RunFolder::HISTORY, plan)?;
    let (plan, variables) = (plan.clone(), prepared.variables.clone());
    let address = address(prepared);
    let (progress, cancel) = (Arc::clone(progress), Arc::clone(&bench.cancel));
    let response_log = Some(folder.file(RunFolder::RESPONSE_LOG));
    Ok(move || {
        let plan = &plan;
        load::run(LoadJob {
            plan,
            address,
            variables,
            history,
            start,
            progress,
            cancel,
            response_log,
        })
    })
}

/// Tells how the load goes, until it is dropped.
async fn watch(
    progress: &Progress,
    start: Instant,
    narrate: &dyn Narrate,
) -> std::convert::Infallible {
    let mut before = progress.counts();
    loop {
        tokio::time::sleep(LIVE_EVERY).await;
        let now = progress.counts();
        let sent_per_s = (now.sent - before.sent) as f64 / LIVE_EVERY.as_secs_f64();
        narrate.live(&format!(
            "{:5.1} s  {sent_per_s:6.0} req/s  accepted {}  refused {}  unknown {}  dropped {}",
            start.elapsed().as_secs_f64(),
            now.accepted,
            now.refused,
            now.unknown,
            now.dropped
        ));
        before = now;
    }
}

fn save(folder: &RunFolder, load: &LoadSummary, events: &[FaultEvent]) -> Result<(), FolderError> {
    folder.save(RunFolder::LOAD, load)?;
    folder.save(RunFolder::FAULTS, &events)
}
