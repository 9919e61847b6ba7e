//! The run folder: `results/<run>/`, written as the run goes, so that nothing is lost when it breaks off.

use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Where one run keeps its evidence.
#[derive(Debug, Clone)]
pub struct RunFolder {
    path: PathBuf,
}

/// A file of a run folder that cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    #[error("cannot write {path}: {source}")]
    Write { path: PathBuf, source: io::Error },
    #[error("cannot read {path}: {source}; is this a run folder?")]
    Read { path: PathBuf, source: io::Error },
    #[error("{path} is damaged: {source}")]
    Damaged {
        path: PathBuf,
        source: serde_json::Error,
    },
}

impl RunFolder {
    pub const PLAN: &str = "plan.json";
    pub const ABOUT: &str = "run.json";
    pub const HISTORY: &str = "history.bin";
    pub const RESPONSE_LOG: &str = "response.hlog";
    pub const SAMPLES: &str = "samples.jsonl";
    pub const LOAD: &str = "load.json";
    /// The history and the figures of the journeys, where the plan has any.
    pub const JOURNEY_HISTORY: &str = "journeys.bin";
    pub const JOURNEYS: &str = "journeys.json";
    /// The history and the figures of the last call, where the plan expects a sale that sells out.
    pub const LAST_CALL_HISTORY: &str = "last_call.bin";
    pub const LAST_CALL: &str = "last_call.json";
    /// What buyers did, by who offered it; only the load's is always there.
    pub const HISTORIES: [(&str, &str); 3] = [
        ("load", Self::HISTORY),
        ("journeys", Self::JOURNEY_HISTORY),
        ("last_call", Self::LAST_CALL_HISTORY),
    ];
    pub const FAULTS: &str = "faults.json";
    /// What became of the plan's top-ups, where it has any.
    pub const TOP_UPS: &str = "top_ups.json";
    pub const STORES: &str = "final_state.json";
    pub const ENVIRONMENT: &str = "environment.json";
    /// Settings that decide which losses are allowed.
    pub const GUARANTEES: &str = "guarantees.json";
    /// What the service told whoever is on call.
    pub const ALERTS: &str = "alerts.json";
    pub const VERDICT: &str = "verdict.json";
    /// What the run left behind.
    pub const CLEAN_ROOM: &str = "clean_room.json";

    /// Makes `results/<run>` and points `results/latest` at it.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub fn create(results: &Path, run: &str) -> Result<Self, FolderError> {
        let path = results.join(run);
        let fail = |source| FolderError::Write {
            path: path.clone(),
            source,
        };
        std::fs::create_dir_all(path.join("logs")).map_err(fail)?;
        point_latest(results, run).map_err(fail)?;
        Ok(Self { path })
    }

    /// A folder that exists.
    pub fn open(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Folder of the servers' and the service's logs.
    pub fn logs(&self) -> PathBuf {
        self.path.join("logs")
    }

    /// # Errors
    /// The file cannot be written.
    pub fn save<T: Serialize>(&self, name: &str, value: &T) -> Result<(), FolderError> {
        let path = self.file(name);
        let write = || -> io::Result<()> {
            let text = serde_json::to_vec_pretty(value)?;
            std::fs::write(&path, text)
        };
        write().map_err(|source| FolderError::Write {
            path: path.clone(),
            source,
        })
    }

    /// # Errors
    /// The file is missing or is not what it should be.
    pub fn load<T: DeserializeOwned>(&self, name: &str) -> Result<T, FolderError> {
        let path = self.file(name);
        let text = std::fs::read(&path).map_err(|source| FolderError::Read {
            path: path.clone(),
            source,
        })?;
        serde_json::from_slice(&text).map_err(|source| FolderError::Damaged { path, source })
    }
}

/// Replaces the `latest` link in one step, so that a reader never finds it missing.
fn point_latest(results: &Path, run: &str) -> io::Result<()> {
    let fresh = results.join(format!(".latest-{run}"));
    std::os::unix::fs::symlink(run, &fresh)?;
    std::fs::rename(&fresh, results.join("latest"))
}

/// Of a name that targets take for a sale's: the bundled service's has 64 characters.
const RUN_WORD_MAX: usize = 40;

/// Name of a run: sortable by time, readable, unique on this machine while runs are a second apart
/// or in different processes; of letters, digits and `-` only, as topics and keys are named by it, and no longer than
/// names may be.
pub fn run_name(drill: &str) -> String {
    let now = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S");
    let mut slug = drill.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    slug.truncate(RUN_WORD_MAX);
    format!("{now}-{slug}-{:x}", std::process::id() & 0xffff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_run_fits_whatever_it_is_a_run_of() {
        let short = run_name("redis/primary-kill");
        assert!(short.contains("-redis-primary-kill-"), "{short}");
        let long = run_name(&"doubt-and-death@outbox ".repeat(9));
        assert!(long.len() <= 64, "{long}");
    }
}
