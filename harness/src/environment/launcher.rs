//! The native launcher: child processes in groups of their own, tied to this process's life, and
//! recorded in the run's registry.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::mpsc;
use std::thread;

use super::error::EnvironmentError;
use super::procfs::ProcessId;
use super::programs::{MysqlServer, Programs};
use super::run_folder::RunFolder;
use super::server::Program;
use super::sweep::kill_group;

/// Starts processes for one run.
#[derive(Debug)]
pub(crate) struct Launcher {
    pub programs: Programs,
    pub folder: RunFolder,
    /// Where the logs of all components go; outlives the scratch folder.
    logs: PathBuf,
    spawner: mpsc::Sender<Job>,
}

struct Job {
    command: Command,
    answer: mpsc::Sender<io::Result<Child>>,
}

impl Launcher {
    /// # Errors
    /// Missing programs; a folder that cannot be made.
    pub fn new(name: &str, logs: &Path) -> Result<Self, EnvironmentError> {
        let programs = Programs::find()?;
        std::fs::create_dir_all(logs)
            .map_err(|source| super::run_folder::file_error("create", logs, source))?;
        let folder = RunFolder::create(name)?;
        let spawner = start_spawner().map_err(|source| EnvironmentError::Spawn {
            component: "launcher".to_owned(),
            program: "its thread".into(),
            source,
        })?;
        Ok(Self {
            programs,
            folder,
            logs: logs.to_owned(),
            spawner,
        })
    }

    pub fn log_file(&self, component: &str) -> PathBuf {
        self.logs.join(format!("{component}.log"))
    }

    pub fn path_of<'p>(&'p self, program: &'p Program) -> &'p Path {
        match program {
            Program::Redis => &self.programs.redis_server,
            Program::Mysql => match &self.programs.mysql {
                MysqlServer::MariaDb { server, .. } | MysqlServer::Mysql { server } => server,
            },
            Program::Java => &self.programs.java,
            Program::Path(path) => path,
        }
    }

    /// What makes the system tables where the server does not do it itself.
    pub fn mariadb_install(&self) -> Option<&Path> {
        match &self.programs.mysql {
            MysqlServer::MariaDb { install, .. } => Some(install),
            MysqlServer::Mysql { .. } => None,
        }
    }

    /// A command that dies with this process, where `setpriv` can arrange that.
    pub fn command(&self, program: &Path) -> Command {
        match &self.programs.setpriv {
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
        command.env("LC_ALL", "C").process_group(0);
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
        if let Err(error) = self.record(component, child.id()) {
            kill_group(child.id());
            let _ = child.wait();
            return Err(error);
        }
        Ok(child)
    }

    fn record(&self, component: &str, pid: u32) -> Result<(), EnvironmentError> {
        // It is our child and not waited for: even when it died at once its entry in /proc stands.
        let id = ProcessId::of(pid)
            .map_err(|e| EnvironmentError::step(component, "reading its process entry", e))?;
        self.folder.record(component, id)
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
