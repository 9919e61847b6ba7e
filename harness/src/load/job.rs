//! What a load needs, and the checks before it starts.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Instant;

use super::population::USERS_MAX;
use super::progress::Progress;
use super::summary::LoadSummary;
use super::{LoadError, engine};
use crate::drill::plan::Plan;
use crate::history::HistoryWriter;
use crate::target::template::Variables;

/// One load against one address.
#[derive(Debug)]
pub struct LoadJob<'p> {
    pub plan: &'p Plan,
    /// The service, on this machine.
    pub address: SocketAddr,
    /// Variables of the stack and the run for the request templates.
    pub variables: Variables,
    /// Created with the plan's seed and [`super::reason::reasons`] of its target; finished by the load.
    pub history: HistoryWriter,
    /// Time of the first arrival. Connections are opened from the call on, so leave it some 100 ms ahead.
    pub start: Instant,
    pub progress: Arc<Progress>,
    /// Set it to stop sending; what is outstanding is still waited for.
    pub cancel: Arc<AtomicBool>,
    /// Where to save the response times as an HdrHistogram log; None: nowhere.
    pub response_log: Option<PathBuf>,
}

/// Runs a load on a thread of its own and waits for its end, which comes, however the server
/// behaves, at most two time-outs after the last arrival or due follow-up.
///
/// # Errors
/// The job cannot be run (address, settings, templates), or its history could not be written.
pub fn run(job: LoadJob<'_>) -> Result<LoadSummary, LoadError> {
    check(&job)?;
    thread::scope(|scope| {
        let load = thread::Builder::new()
            .name("load".into())
            .spawn_scoped(scope, || engine::run(job))
            .map_err(|source| LoadError::Events {
                doing: "started",
                source,
            })?;
        load.join()
            .unwrap_or_else(|panic| Err(LoadError::Panicked(panic_text(&*panic))))
    })
}

/// The message of a panic.
pub(crate) fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("no message").to_owned()
}

/// Whatever sends requests to a service sends them to this machine only.
pub(crate) fn must_be_loopback(address: SocketAddr) -> Result<(), LoadError> {
    if address.ip().is_loopback() {
        return Ok(());
    }
    Err(LoadError::NotLoopback { address })
}

fn check(job: &LoadJob<'_>) -> Result<(), LoadError> {
    must_be_loopback(job.address)?;
    let load = &job.plan.load;
    at_least_one("connections", load.connections.into())?;
    at_least_one("depth", load.depth.into())?;
    at_least_one("timeout_ms", load.timeout_ms)?;
    at_least_one("schedule.phases", load.schedule.phases.len() as u64)?;
    at_least_one("sale.skus", job.plan.sale.skus.len() as u64)?;
    let users = job.plan.population.users;
    if users > USERS_MAX {
        return Err(LoadError::Setting {
            setting: "population.users",
            value: users,
            allowed: "at most 10^12",
        });
    }
    at_least_one("population.users", users)
}

fn at_least_one(setting: &'static str, value: u64) -> Result<(), LoadError> {
    if value == 0 {
        return Err(LoadError::Setting {
            setting,
            value,
            allowed: "at least 1",
        });
    }
    Ok(())
}
