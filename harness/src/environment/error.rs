//! Why the stack could not start, or what became of it later.

use std::path::{Path, PathBuf};
use std::{fmt, io};

use super::engine::EngineError;
use super::server::{Ending, LogTail};
use crate::proxy::ProxyError;

/// A program that is not on the search path, and the Debian package that holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MissingProgram {
    pub program: &'static str,
    pub package: &'static str,
}

#[derive(Debug, thiserror::Error)]
pub enum EnvironmentError {
    #[error("missing programs:{}\ninstall them with: apt-get install {}{}\nor run the servers in containers: --env container", missing_lines(.programs), packages(.programs), jars_line(.jars.as_deref()))]
    MissingPrograms {
        programs: Vec<MissingProgram>,
        /// Folder that should hold the RocketMQ jars, when they are missing too.
        jars: Option<PathBuf>,
    },
    #[error("no RocketMQ jars in {}: run `make deps`, or name their folder in FLASHDRILL_ROCKETMQ", .dir.display())]
    MissingJars { dir: PathBuf },
    #[error(
        "no toxiproxy-server on the search path: compose/install-toxiproxy.sh installs it, and --proxy built-in does without"
    )]
    NoToxiproxy,
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error("cannot {action} {}: {source}", .path.display())]
    File {
        action: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    #[error("{component}: cannot run {}: {source}", .program.display())]
    Spawn {
        component: String,
        program: PathBuf,
        source: io::Error,
    },
    #[error(
        "{component}: a port it wants is in use by another process (it was given {port}); {tail}"
    )]
    PortInUse {
        component: String,
        port: u16,
        tail: LogTail,
    },
    #[error("no free port found below the ephemeral range after {tries} tries")]
    NoFreePort { tries: u32 },
    #[error("{component} died during start ({ending}); {tail}")]
    Died {
        component: String,
        ending: Ending,
        tail: LogTail,
    },
    #[error("{component} was not ready after {waited_ms} ms: {last}; {tail}")]
    NotReady {
        component: String,
        waited_ms: u128,
        last: String,
        tail: LogTail,
    },
    #[error("{component}: {step} failed: {reason}")]
    Step {
        component: String,
        step: String,
        reason: String,
    },
    #[error("fault proxy: {0}")]
    Proxy(#[from] ProxyError),
    #[error("{} endpoint(s) cannot be used:{}", .0.len(), lines(.0))]
    Silent(Vec<EnvironmentError>),
    #[error(
        "{} does not allow to empty its stores: set `may_reset = true` there if they hold nothing that must stay", .0.display()
    )]
    MayNotReset(PathBuf),
    #[error("the stack is not empty after its reset: {0}")]
    NotEmpty(String),
    #[error("the stack has been stopped")]
    Stopped,
}

impl EnvironmentError {
    pub(crate) fn step(component: &str, step: &str, reason: impl fmt::Display) -> Self {
        Self::Step {
            component: component.to_owned(),
            step: step.to_owned(),
            reason: reason.to_string(),
        }
    }

    /// Another port may do: worth another try when the port was our own choice.
    pub(crate) fn is_port_in_use(&self) -> bool {
        match self {
            Self::PortInUse { .. } => true,
            Self::Proxy(error) => error.is_port_in_use(),
            _ => false,
        }
    }
}

fn missing_lines(missing: &[MissingProgram]) -> String {
    missing
        .iter()
        .map(|m| format!("\n  {} (Debian package {})", m.program, m.package))
        .collect()
}

fn lines(errors: &[EnvironmentError]) -> String {
    errors.iter().map(|error| format!("\n  {error}")).collect()
}

fn jars_line(jars: Option<&Path>) -> String {
    let line = |dir: &Path| {
        format!(
            "\n{}",
            EnvironmentError::MissingJars {
                dir: dir.to_owned()
            }
        )
    };
    jars.map(line).unwrap_or_default()
}

fn packages(missing: &[MissingProgram]) -> String {
    let mut names: Vec<_> = missing.iter().map(|m| m.package).collect();
    names.sort_unstable();
    names.dedup();
    names.join(" ")
}
