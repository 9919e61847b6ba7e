//! One run of a drill: the table of contents of the whole pipeline.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::folder::{FolderError, RunFolder};
use super::narrate::Narrate;
use super::plan::Plan;
use super::prepare::{self, PrepareError};
use crate::check::judgement::Judgement;
use crate::check::{self, Evidence};
use crate::environment::service::Service;
use crate::environment::{EnvironmentError, Stack};
use crate::faults;
use crate::history::final_state::FinalState;
use crate::history::writer::HistoryWriter;
use crate::load::summary::LoadSummary;
use crate::load::{self, LoadError, LoadJob, Progress};
use crate::observe::endpoints::Endpoints;
use crate::observe::{Sample, sampler::Sampler, settle};
use crate::report::{self, ReportInput};
use crate::target::template::{UnknownVariable, Variables};

/// Time between the decision to start and the first arrival: connections are opened in it.
const LEAD_IN: Duration = Duration::from_millis(500);

/// What is the same for every run of one command.
pub struct Bench<'a> {
    pub results: PathBuf,
    /// Where the service's binaries are.
    pub bin_dir: PathBuf,
    pub narrate: &'a dyn Narrate,
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
    #[error("target file: {0}")]
    Target(#[from] UnknownVariable),
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error("the load generator's thread died: {0}")]
    LoadThread(tokio::task::JoinError),
    #[error("cannot write the report: {0}")]
    Report(#[from] report::ReportError),
}

/// Runs `plan` on a stack that is up, and judges it.
///
/// # Errors
/// The service or a store could not be brought to the start line, or evidence could not be saved.
pub async fn run(
    stack: &mut Stack,
    plan: &Plan,
    mutant: Option<&str>,
    bench: &Bench<'_>,
) -> Result<(Judgement, RunFolder), RunError> {
    let folder = RunFolder::create(&bench.results, &plan.sale.id)?;
    folder.save(RunFolder::PLAN, plan)?;
    bench.narrate.say(&format!("{}: {}", plan.drill, plan.title));
    stack.reset().await?;
    let (service, variables) = prepare::start_service(stack, plan, mutant, bench, &folder).await?;
    let endpoints = prepare::endpoints(stack, &service);
    let evidence = collect(stack, plan, &service, &endpoints, &variables, bench, &folder).await;
    service.stop().await;
    let (evidence, samples) = evidence?;
    let judgement = judge(&folder, &evidence)?;
    let environment = stack.versions();
    folder.save(RunFolder::ENVIRONMENT, &environment)?;
    let input = ReportInput { evidence: &evidence, judgement: &judgement, samples: &samples, environment: &environment };
    report::write_all(folder.path(), &input)?;
    Ok((judgement, folder))
}
