//! The part of a run in which everything happens at once: load, journeys, faults, top-ups, samples.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::folder::{FolderError, RunFolder};
use super::plan::Plan;
use super::prepare::{self, PrepareError, Prepared};
use super::queue::Queue;
use super::run::Bench;
use super::top_up;
use super::watch::watch;
use crate::environment::{EnvironmentError, Stack};
use crate::faults::{self, FaultEvent, Site, Timeline};
use crate::history::{FaultEpoch, HistoryError, HistoryWriter};
use crate::journeys::{JourneyError, JourneyJob, JourneySummary, Journeying};
use crate::load::figures::Figures;
use crate::load::timeline;
use crate::load::{self, LoadError, LoadJob, Progress, reason};
use crate::observe::{MachineReading, ObserveError, Sampler, SamplerOptions};

/// Time between the decision to start and the first arrival: connections are opened in it.
const LEAD_IN: Duration = Duration::from_millis(500);
const SAMPLE_EVERY: Duration = Duration::from_millis(500);

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
    /// The first arrival: the clock of the run's evidence.
    pub start: Instant,
    /// The load had ended and every fault was healed.
    pub rest_since: Instant,
    /// The last one there was.
    pub epoch: Arc<FaultEpoch>,
}

/// Offers the load, lets buyers go their ways beside it, injects and heals the faults and asks for the top-ups on its
/// timeline, takes samples.
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
    let machine = move || MachineReading {
        cpu_ms: meter.cpu_ms(),
        bypasses: meter.bypasses(),
    };
    let options = SamplerOptions {
        start,
        every: SAMPLE_EVERY,
        file: folder.file(RunFolder::SAMPLES),
    };
    let queue = Queue::new(stack, plan, prepared).map_err(PrepareError::from)?;
    let backlog = move || {
        let queue = queue.clone();
        async move { queue.backlog().await }
    };
    let reader = prepare::store_reader(prepared, plan)?;
    let sampler = Sampler::start(reader, options, backlog, machine)?;
    let progress = Arc::new(Progress::default());
    let epoch = Arc::new(FaultEpoch::default());
    let journeys = journeys(plan, prepared, bench, folder, start, &epoch)?;
    let load = tokio::task::spawn_blocking(offer(
        plan, prepared, bench, folder, start, &progress, &epoch,
    )?);
    let site = Site {
        stack,
        target: &plan.target,
        variables: &prepared.variables,
        skus: &plan.sale.skus,
    };
    let timeline = Timeline {
        clock: start,
        epoch: &epoch,
        cancel: &bench.cancel,
        tell: &|event| bench.narrate.say(&event.news()),
    };
    let faults = faults::run(&plan.faults, site, timeline);
    let top_ups = top_up::run(plan, prepared, &*bench.narrate, timeline);
    let journeys = make(journeys);
    let mut opened = Ok(());
    let (load, journeys, events, top_ups) = tokio::select! {
        all = async { tokio::join!(load, journeys, faults, top_ups) } => all,
        never = watch(&progress, start, &*bench.narrate) => match never {},
        never = open(plan, prepared, bench, start, &mut opened) => match never {},
    };
    let healed = faults::heal_all(stack).await;
    let rest_since = Instant::now();
    sampler.stop().await?;
    save(folder, &load??, &events)?;
    if !plan.sale.top_ups.is_empty() {
        folder.save(RunFolder::TOP_UPS, &top_ups)?;
    }
    if let Some(journeys) = journeys? {
        folder.save(RunFolder::JOURNEYS, &journeys)?;
    }
    healed?;
    opened?;
    Ok(Sold {
        start,
        rest_since,
        epoch,
    })
}

/// The journeys of the plan, where it has any.
fn journeys(
    plan: &Plan,
    prepared: &Prepared,
    bench: &Bench,
    folder: &RunFolder,
    start: Instant,
    epoch: &Arc<FaultEpoch>,
) -> Result<Option<Journeying>, SellError> {
    let Some(journeys) = &plan.journeys else {
        return Ok(None);
    };
    let job = JourneyJob {
        plan,
        journeys,
        endpoint: prepared.entrance.clone(),
        variables: prepared.variables.clone(),
        history: history(folder, RunFolder::JOURNEY_HISTORY, plan)?,
        start,
        epoch: Arc::clone(epoch),
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

/// A history of this run, in a file of its own.
pub(super) fn history(
    folder: &RunFolder,
    name: &str,
    plan: &Plan,
) -> Result<HistoryWriter, HistoryError> {
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
    epoch: &Arc<FaultEpoch>,
) -> Result<impl FnOnce() -> Result<Figures, LoadError> + Send + 'static, SellError> {
    let history = history(folder, RunFolder::HISTORY, plan)?;
    let (spec, variables) = (plan.load_spec(), prepared.variables.clone());
    let endpoint = prepared.entrance.clone();
    let (progress, epoch) = (Arc::clone(progress), Arc::clone(epoch));
    let cancel = Arc::clone(&bench.cancel);
    Ok(move || {
        load::run(LoadJob {
            spec,
            endpoint,
            variables,
            history: Some(history),
            start,
            progress,
            epoch,
            cancel,
        })
    })
}

/// Opens the sale at its time, if that is while the load runs; `opened` gets what came of it. Goes on until
/// it is dropped, which is before the opening when the load was cut short.
async fn open(
    plan: &Plan,
    prepared: &Prepared,
    bench: &Bench,
    start: Instant,
    opened: &mut Result<(), PrepareError>,
) -> std::convert::Infallible {
    let opens_at_ms = plan.sale.opens_at_ms;
    if opens_at_ms > 0 {
        let opens_at = start + Duration::from_millis(opens_at_ms);
        tokio::time::sleep_until(opens_at.into()).await;
        *opened = prepare::open_sale(prepared, plan).await;
        if opened.is_ok() {
            let open_s = start.elapsed().as_secs_f64();
            bench.narrate.say(&format!("sale open at {open_s:.3} s"));
        }
    }
    std::future::pending().await
}

fn save(folder: &RunFolder, load: &Figures, events: &[FaultEvent]) -> Result<(), SellError> {
    timeline::write_log(&load.seconds, &folder.file(RunFolder::RESPONSE_LOG))?;
    folder.save(RunFolder::LOAD, &load.summary())?;
    Ok(folder.save(RunFolder::FAULTS, &events)?)
}
