//! Starts the servers of one run, where they are to run: as child processes in groups of their own, tied to this
//! process's life, or as containers. All are recorded in the run's registry.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::mpsc;
use std::thread;

use super::endpoints::Located;
use super::engine::{Engine, Image};
use super::error::EnvironmentError;
use super::owner::{MARK, Owner};
use super::procfs::ProcessId;
use super::programs::{self, MysqlServer, Programs};
use super::run_folder::RunFolder;
use super::server::Program;
use super::sweep::kill_group;

/// Where the official image has it; used when an image does not say.
const ROCKETMQ_HOME: &str = "/home/rocketmq/rocketmq-5.3.3";

/// Where the stack's servers run; services are always processes.
#[derive(Debug)]
pub(crate) enum Place {
    Native(Programs),
    Containers(Engine),
    /// Somewhere: somebody else runs them.
    Attached(Located),
}

impl Place {
    /// # Errors
    /// Missing programs.
    pub fn native() -> Result<Self, EnvironmentError> {
        Ok(Self::Native(Programs::find()?))
    }

    /// What links may lead to beyond loopback.
    pub fn allowed(&self) -> Vec<String> {
        match self {
            Self::Native(_) | Self::Containers(_) => Vec::new(),
            Self::Attached(located) => located.allowed(),
        }
    }
}

/// What a program is started from.
#[derive(Debug)]
pub(crate) enum Runnable<'l> {
    Program(&'l Path),
    Image(&'l Engine, &'l Image),
    /// Nothing to start: it runs already.
    Attached,
}

#[derive(Debug)]
pub(crate) struct Launcher {
    pub folder: RunFolder,
    /// Where the logs of all components go; outlives the scratch folder.
    logs: PathBuf,
    pub place: Place,
    /// Ties a process's life to ours; without it only the sweep finds what a kill -9 leaves.
    setpriv: Option<PathBuf>,
    spawner: mpsc::Sender<Job>,
}

struct Job {
    command: Command,
    answer: mpsc::Sender<io::Result<Child>>,
}

impl Launcher {
    /// # Errors
    /// A folder that cannot be made.
    pub fn new(name: &str, logs: &Path, place: Place) -> Result<Self, EnvironmentError> {
        std::fs::create_dir_all(logs)
            .map_err(|source| super::run_folder::file_error("create", logs, source))?;
        let folder = RunFolder::create(name)?;
        let spawner = start_spawner().map_err(|source| EnvironmentError::Spawn {
            component: "launcher".to_owned(),
            program: "its thread".into(),
            source,
        })?;
        Ok(Self {
            folder,
            logs: logs.to_owned(),
            place,
            setpriv: programs::setpriv(),
            spawner,
        })
    }

    pub fn log_file(&self, component: &str) -> PathBuf {
        self.logs.join(format!("{component}.log"))
    }

    /// # Errors
    /// A program that this machine lacks.
    pub fn runnable<'l>(&'l self, program: &'l Program) -> Result<Runnable<'l>, EnvironmentError> {
        let programs = match (&self.place, program) {
            (_, Program::Path(path)) => return Ok(Runnable::Program(path)),
            (Place::Native(programs), _) => programs,
            (Place::Attached(_), _) => return Ok(Runnable::Attached),
            (Place::Containers(engine), _) => {
                let image = engine.image(program);
                let image = image.expect("the engine was asked for the images of all servers");
                return Ok(Runnable::Image(engine, image));
            }
        };
        Ok(Runnable::Program(match program {
            Program::Redis => &programs.redis_server,
            Program::Mysql => programs.mysql.server(),
            Program::Java => &programs.java,
            Program::Toxiproxy => programs.toxiproxy()?,
            Program::Path(path) => path,
        }))
    }

    /// What makes the system tables where the server does not do it itself.
    pub fn mariadb_install(&self) -> Option<&Path> {
        match &self.place {
            Place::Native(Programs {
                mysql: MysqlServer::MariaDb { install, .. },
                ..
            }) => Some(install),
            _ => None,
        }
    }

    /// The folder of RocketMQ's jars, where its program runs.
    pub fn rocketmq_jars(&self) -> PathBuf {
        let image = match &self.place {
            Place::Native(programs) => return programs.rocketmq_jars.clone(),
            Place::Containers(engine) => engine.image(&Program::Java),
            Place::Attached(_) => None,
        };
        let home = image.and_then(|image| image.variable("ROCKETMQ_HOME"));
        Path::new(home.unwrap_or(ROCKETMQ_HOME)).join("lib")
    }

    /// A command that dies with this process, where `setpriv` can arrange that.
    pub fn command(&self, program: &Path) -> Command {
        match &self.setpriv {
            Some(setpriv) => {
                let mut command = Command::new(setpriv);
                command.args(["--pdeathsig", "KILL", "--"]).arg(program);
                command
            }
            None => Command::new(program),
        }
    }

    /// Starts the command in its own process group and records it.
    pub fn spawn(
        &self,
        component: &str,
        mut command: Command,
        program: &Path,
    ) -> Result<Child, EnvironmentError> {
        // Errors are told from each other by their English text.
        command
            .env("LC_ALL", "C")
            .env(MARK, Owner::this().mark())
            .process_group(0);
        let (answer, spawned) = mpsc::channel();
        let gone = || io::Error::other("the launcher's thread is gone");
        let mut child = self
            .spawner
            .send(Job { command, answer })
            .map_err(|_| gone())
            .and_then(|()| spawned.recv().map_err(|_| gone())?)
            .map_err(|source| EnvironmentError::Spawn {
                component: component.to_owned(),
                program: program.to_owned(),
                source,
            })?;
        // It is our child and not waited for: even when it died at once its entry in /proc stands.
        let recorded = ProcessId::of(child.id())
            .map_err(|e| EnvironmentError::step(component, "reading its process entry", e))
            .and_then(|id| self.folder.record(component, id));
        if let Err(error) = recorded {
            kill_group(child.id());
            let _ = child.wait();
            return Err(error);
        }
        Ok(child)
    }
}

/// The parent-death signal is tied to the thread that spawned: so one thread spawns everything, and
/// lives until the launcher is dropped.
fn start_spawner() -> io::Result<mpsc::Sender<Job>> {
    let (sender, jobs) = mpsc::channel::<Job>();
    thread::Builder::new()
        .name("launcher".to_owned())
        .spawn(move || {
            for mut job in jobs {
                if let Err(mpsc::SendError(Ok(mut child))) = job.answer.send(job.command.spawn()) {
                    kill_group(child.id());
                    let _ = child.wait();
                }
            }
        })?;
    Ok(sender)
}
