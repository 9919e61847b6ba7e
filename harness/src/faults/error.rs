//! Why a fault could not be injected, proved or healed.

use sqlx::mysql::MySqlDatabaseError;

use crate::environment::EnvironmentError;
use crate::proxy::ProxyError;
use crate::target::call::CallError;
use crate::target::template::UnknownVariable;

#[derive(Debug, thiserror::Error)]
pub enum FaultError {
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    #[error(transparent)]
    Proxy(#[from] ProxyError),
    #[error("service node {node}: {source}")]
    Call { node: u64, source: CallError },
    #[error("the target's `{command}`: {source}")]
    Template {
        command: &'static str,
        source: UnknownVariable,
    },
    #[error(
        "the target's `{command}` has no key: it needs a Redis command, a key and its arguments"
    )]
    NoKey { command: &'static str },
    #[error("MySQL, {step}: {source}")]
    Sql {
        step: &'static str,
        source: sqlx::Error,
    },
    #[error("the target file has no `{field}`, which this fault needs")]
    NoField { field: &'static str },
    #[error("there is no SKU {number}; {skus} are on sale")]
    NoSku { number: u32, skus: usize },
    #[error("no link is called `{pattern}`; there are {there_are}")]
    NoLink { pattern: String, there_are: String },
    #[error("no server is called {name}; there are {there_are}")]
    NoServer { name: String, there_are: String },
    #[error("{victim} did not die by signal 9: {how}")]
    NotKilled { victim: String, how: String },
    #[error("no proof that the fault bit: {missing}")]
    NoReceipt { missing: String },
    #[error("not healed {waited_s} s after the heal began: {missing}")]
    NotHealed { waited_s: u64, missing: String },
}

impl FaultError {
    /// The server's number of what it said, if it was a MySQL-compatible server that said it.
    pub(super) fn mysql_code(&self) -> Option<u16> {
        let Self::Sql { source, .. } = self else {
            return None;
        };
        let error = source.as_database_error()?;
        error
            .try_downcast_ref::<MySqlDatabaseError>()
            .map(MySqlDatabaseError::number)
    }

    /// No proof yet that the fault bit, or that it is healed.
    pub(super) fn missing(what: impl Into<String>) -> Self {
        Self::NoReceipt {
            missing: what.into(),
        }
    }
}
