//! Why the Java client was not measured.

use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum JavaError {
    #[error("no {program}: Debian calls its package {package}")]
    NoProgram {
        program: &'static str,
        package: &'static str,
    },
    #[error(
        "no RocketMQ client in {}: `make deps` fetches it, FLASHDRILL_ROCKETMQ names another folder", .0.display()
    )]
    NoJars(PathBuf),
    #[error("javac does not compile it: {0}")]
    NotCompiled(String),
    #[error("`flashdrill up` named no name server")]
    NoStack,
    #[error("the client printed no figures but {0:?}")]
    NoFigures(String),
    #[error("the client's figures: {0}")]
    Figures(#[from] serde_json::Error),
    #[error("none of its transactions was committed, {failures} failed")]
    NothingCommitted { failures: u64 },
    #[error(transparent)]
    Io(#[from] io::Error),
}
