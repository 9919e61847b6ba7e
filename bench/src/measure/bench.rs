//! One run of one tool before one server.

use std::io;
use std::path::PathBuf;
use std::process::Command;

use crate::machine::Machine;
use crate::request::Requests;
use crate::scratch::Scratch;
use crate::server::{Freezes, Server, ServerLog, Setup};
use crate::tool::{Latency, Load, Pace, ReadError, Tool};

use super::Settings;
use super::child::{self, ChildError};
use super::round_trip;

/// What every measurement needs.
#[derive(Debug)]
pub struct Bench {
    pub machine: Machine,
    pub settings: Settings,
    scratch: Scratch,
}

/// A tool that is installed.
pub struct Guest {
    pub tool: &'static dyn Tool,
    program: PathBuf,
}

/// A run that ended well.
#[derive(Debug)]
pub struct Run {
    pub log: ServerLog,
    pub cpu_us: f64,
    pub command: String,
    pub latency: Latency,
}

#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    #[error("cannot {action}: {source}")]
    Io {
        action: &'static str,
        source: io::Error,
    },
    #[error("{tool}: {source}; its command was: {command}")]
    Child {
        tool: &'static str,
        command: String,
        source: ChildError,
    },
    #[error("{tool}: {source}; its command was: {command}")]
    Read {
        tool: &'static str,
        command: String,
        source: ReadError,
    },
    #[error(
        "{tool}: it ended well, but the server has seen no request; its command was: {command}"
    )]
    Idle { tool: &'static str, command: String },
}

fn io_error(action: &'static str) -> impl Fn(io::Error) -> MeasureError {
    move |source| MeasureError::Io { action, source }
}

impl Guest {
    pub fn of(tool: &'static dyn Tool) -> Option<Self> {
        let program = tool.program()?;
        Some(Self { tool, program })
    }
}

impl Bench {
    pub fn new(settings: Settings) -> Result<Self, MeasureError> {
        let scratch = Scratch::new("run").map_err(io_error("make the scratch folder"))?;
        Ok(Self {
            machine: Machine::here().map_err(io_error("ask for the machine's cores"))?,
            settings,
            scratch,
        })
    }

    fn server(&self, freezes: Option<Freezes>) -> Result<Server, MeasureError> {
        let core = self.machine.pins.map(|pins| pins.server);
        Server::start(Setup { core, freezes }).map_err(io_error("start the server"))
    }

    /// A lone request on the idle server.
    pub fn round_trip_us(&self) -> Result<f64, MeasureError> {
        let server = self.server(None)?;
        let core = self.machine.pins.map(|pins| pins.tool);
        round_trip::median_us(server.address, core).map_err(io_error("measure the round trip"))
    }

    /// Lets the tool do the work before a fresh server; None when it has no such mode.
    pub fn run(
        &self,
        guest: &Guest,
        pace: Pace,
        requests: Requests,
        duration_ms: u64,
        freezes: Option<Freezes>,
    ) -> Result<Option<Run>, MeasureError> {
        let tool = guest.tool.name();
        let server = self.server(freezes)?;
        let load = Load {
            url: &server.url(),
            pace,
            requests,
            duration_ms,
            scratch: self.scratch.path(),
        };
        let wanted = guest.tool.command(&guest.program, &load);
        let Some(plain) = wanted.map_err(io_error("write a tool's files"))? else {
            return Ok(None);
        };
        let command = shown(&plain);
        let is_done = |status| guest.tool.is_done(status);
        let finished = child::run(
            self.pinned(&plain),
            self.scratch.path(),
            duration_ms,
            is_done,
        );
        let finished = match finished {
            Ok(finished) => finished,
            Err(source) => {
                return Err(MeasureError::Child {
                    tool,
                    command,
                    source,
                });
            }
        };
        let log = server.finish();
        if log.answered_ns.is_empty() {
            return Err(MeasureError::Idle { tool, command });
        }
        match guest.tool.latency(&guest.program, &load, &finished.printed) {
            Ok(latency) => Ok(Some(Run {
                log,
                cpu_us: finished.cpu_us,
                command,
                latency,
            })),
            Err(source) => Err(MeasureError::Read {
                tool,
                command,
                source,
            }),
        }
    }

    /// The same command on the tools' core.
    fn pinned(&self, plain: &Command) -> Command {
        let mut command = match self.machine.pins {
            Some(pins) => {
                let mut taskset = Command::new("taskset");
                taskset.args(["-c", &pins.tool.to_string()]);
                taskset.arg(plain.get_program());
                taskset
            }
            None => Command::new(plain.get_program()),
        };
        command.args(plain.get_args());
        command
    }
}

/// The command as it would be typed, without the folders of the program.
fn shown(command: &Command) -> String {
    let program = PathBuf::from(command.get_program());
    let name = program.file_name().unwrap_or_default();
    let words = std::iter::once(name).chain(command.get_args());
    let quoted = words.map(|word| match word.to_string_lossy() {
        word if word.contains([' ', '&']) => format!("'{word}'"),
        word => word.into_owned(),
    });
    quoted.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// Runs a shell script instead of a load generator.
    struct Script(&'static str);

    impl Tool for Script {
        fn name(&self) -> &'static str {
            "script"
        }

        fn version(&self, _: &Path) -> String {
            String::new()
        }

        fn command(&self, program: &Path, load: &Load<'_>) -> io::Result<Option<Command>> {
            if load.pace == Pace::Pipelined {
                return Ok(None);
            }
            let mut command = Command::new(program);
            command.args(["-c", self.0]);
            Ok(Some(command))
        }

        fn latency(&self, _: &Path, _: &Load<'_>, _: &str) -> Result<Latency, ReadError> {
            Err(ReadError::Missing("latency"))
        }
    }

    fn ran(tool: &'static Script, pace: Pace) -> Result<Option<Run>, MeasureError> {
        let guest = Guest {
            tool,
            program: "/bin/sh".into(),
        };
        Bench::new(Settings::SHORT)?.run(&guest, pace, Requests::Same, 1, None)
    }

    /// One test, since the scratch folder is one for the process.
    #[test]
    fn an_installed_tool_must_work_in_the_modes_that_it_has() {
        let failing = ran(&Script("echo no such flag >&2; exit 1"), Pace::Closed);
        let message = failing.unwrap_err().to_string();
        assert!(message.contains("no such flag"), "{message}");
        assert!(message.contains("sh -c 'echo no such flag"), "{message}");
        let idle = ran(&Script("true"), Pace::Closed);
        assert!(matches!(idle, Err(MeasureError::Idle { .. })), "{idle:?}");
        assert!(matches!(ran(&Script("true"), Pace::Pipelined), Ok(None)));
    }
}
