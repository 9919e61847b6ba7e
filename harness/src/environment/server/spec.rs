//! One description of a component, for every way to run it.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// What is run; where it is found is the launcher's business.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Program {
    Redis,
    Mysql,
    /// RocketMQ runs on it.
    Java,
    Toxiproxy,
    /// A program of this machine, whatever the environment: the service.
    Path(PathBuf),
}

/// How a component is run.
#[derive(Debug, Clone)]
pub(crate) struct ServerSpec {
    pub component: String,
    pub program: Program,
    pub args: Vec<String>,
    pub env: BTreeMap<String, String>,
    /// Where it works; what it must find again after a restart is in here.
    pub dir: PathBuf,
    /// Standard output and error, appended.
    pub log: PathBuf,
    /// The port whose conflict is worth naming.
    pub port: u16,
}

impl ServerSpec {
    /// Of a server that somebody else runs: there is nothing to start it by, and its log is not here.
    pub fn attached(component: &str, program: Program, port: u16) -> Self {
        Self {
            component: component.to_owned(),
            program,
            args: Vec::new(),
            env: BTreeMap::new(),
            dir: PathBuf::new(),
            log: PathBuf::new(),
            port,
        }
    }
}
