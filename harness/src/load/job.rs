//! What a load needs, and the checks before it starts.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Instant;

use super::endpoint::Endpoint;
use super::figures::Figures;
use super::population::USERS_MAX;
use super::progress::Progress;
use super::spec::LoadSpec;
use super::{LoadError, engine};
use crate::history::{FaultEpoch, HistoryWriter};
use crate::target::template::Variables;

/// One load against one address.
#[derive(Debug)]
pub struct LoadJob {
    pub spec: LoadSpec,
    pub endpoint: Endpoint,
    /// Variables of the stack and the run for the request templates.
    pub variables: Variables,
    /// Created with the spec's seed and [`super::reason::reasons`] of its target; finished by the load.
    /// None: the load is only measured.
    pub history: Option<HistoryWriter>,
    /// Time of the first arrival. Connections are opened from the call on, so leave it some 100 ms ahead.
    pub start: Instant,
    pub progress: Arc<Progress>,
    /// Advanced by whoever injects faults meanwhile.
    pub epoch: Arc<FaultEpoch>,
    /// Set it to stop sending; what is outstanding is still waited for.
    pub cancel: Arc<AtomicBool>,
}

/// Runs a load on a thread of its own and waits for its end, which comes, however the server
/// behaves, at most two time-outs after the last arrival or due follow-up.
///
/// # Errors
/// The job cannot be run (address, settings, templates), or its history could not be written.
pub fn run(job: LoadJob) -> Result<Figures, LoadError> {
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

fn check(job: &LoadJob) -> Result<(), LoadError> {
    let load = &job.spec.load;
    at_least_one("connections", load.connections.into())?;
    at_least_one("depth", load.depth.into())?;
    at_least_one("timeout_ms", load.timeout_ms)?;
    at_least_one("schedule.phases", load.schedule.phases.len() as u64)?;
    at_least_one("sale.skus", job.spec.skus.len() as u64)?;
    let users = job.spec.population.users;
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
