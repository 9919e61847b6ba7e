//! The primary refuses to write, as one that was demoted does.

use crate::faults::error::FaultError;
use crate::faults::kind::{Kind, kind};
use crate::faults::site::Site;
use crate::faults::sql::Session;

kind! {
    /// Makes MySQL read-only for everybody without special rights, as a demoted primary is; writable when healed.
    pub struct MysqlReadOnly {}
}

/// ER_OPTION_PREVENTS_STATEMENT: the server runs with --read-only.
const READ_ONLY: u16 = 1290;
/// A write that would change nothing.
const WRITE: &str = "DROP TABLE IF EXISTS flashdrill_writes";

impl Kind for MysqlReadOnly {
    /// Whether it was read-only before.
    type State = Option<bool>;

    async fn applicable(&self, _: &mut Self::State, _: Site<'_>) -> Result<String, FaultError> {
        Ok("mysql: read_only = ON".to_owned())
    }

    async fn inject(&self, before: &mut Self::State, site: Site<'_>) -> Result<(), FaultError> {
        let mut session = Session::open(&site.stack.mysql.url()).await?;
        let step = "setting read_only";
        *before = Some(session.value(step, "SELECT @@GLOBAL.read_only").await?);
        session.execute(step, "SET GLOBAL read_only = ON").await
    }

    /// The service's account is refused a write.
    async fn receipt(&self, _: &mut Self::State, site: Site<'_>) -> Result<String, FaultError> {
        match write_as_service(site).await? {
            Some(refusal) => Ok(format!(
                "a write of the service's account is refused: {refusal}"
            )),
            None => Err(FaultError::missing("the service's account can still write")),
        }
    }

    async fn heal(&self, before: &mut Self::State, site: Site<'_>) -> Result<(), FaultError> {
        if *before != Some(false) {
            return Ok(());
        }
        let mut session = Session::open(&site.stack.mysql.url()).await?;
        session
            .execute("clearing read_only", "SET GLOBAL read_only = OFF")
            .await
    }

    async fn is_healed(&self, before: &Self::State, site: Site<'_>) -> Result<(), FaultError> {
        match write_as_service(site).await? {
            Some(refusal) if *before == Some(false) => Err(FaultError::missing(refusal)),
            _ => Ok(()),
        }
    }
}

/// How the server refuses it as read-only; None: it does not.
async fn write_as_service(site: Site<'_>) -> Result<Option<String>, FaultError> {
    let mut session = Session::open(&site.stack.mysql.service_account_url()).await?;
    match session.execute("writing as the service", WRITE).await {
        Ok(()) => Ok(None),
        Err(error) if error.mysql_code() == Some(READ_ONLY) => Ok(Some(error.to_string())),
        Err(error) => Err(error),
    }
}
