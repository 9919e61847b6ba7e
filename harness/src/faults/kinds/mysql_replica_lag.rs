//! The replica receives and does not replay, so that what it answers grows old.

use crate::faults::error::FaultError;
use crate::faults::kind::{Kind, Need, kind};
use crate::faults::site::Site;
use crate::faults::sql::Session;

kind! {
    /// Stops the replay on MySQL's replica, so that it falls behind the primary; in step again when healed.
    pub struct MysqlReplicaLag {}
}

impl Kind for MysqlReplicaLag {
    type State = ();
    const NEEDS: &'static [Need] = &[Need::MysqlReplica];

    async fn applicable(&self, (): &mut (), _: Site<'_>) -> Result<String, FaultError> {
        Ok("mysql-replica: replay stopped".to_owned())
    }

    async fn inject(&self, (): &mut (), site: Site<'_>) -> Result<(), FaultError> {
        tell_replica(site, "STOP REPLICA SQL_THREAD").await
    }

    /// The primary has committed what the replica does not show.
    async fn receipt(&self, (): &mut (), site: Site<'_>) -> Result<String, FaultError> {
        let (primary, replica) = (&site.stack.mysql, site.mysql_replica()?);
        if replica.status().await?.replays {
            return Err(FaultError::missing("the replica still replays"));
        }
        match replica.unreplayed(primary).await? {
            Some(position) => Ok(format!(
                "mysql-replica has not replayed the primary's position {position}"
            )),
            None => Err(FaultError::missing(
                "the primary has committed nothing that it has not replayed",
            )),
        }
    }

    async fn heal(&self, (): &mut (), site: Site<'_>) -> Result<(), FaultError> {
        tell_replica(site, "START REPLICA SQL_THREAD").await
    }

    async fn is_healed(&self, (): &(), site: Site<'_>) -> Result<(), FaultError> {
        match site.mysql_replica()?.missing(&site.stack.mysql).await? {
            None => Ok(()),
            Some(missing) => Err(FaultError::missing(format!("mysql-replica: {missing}"))),
        }
    }
}

async fn tell_replica(site: Site<'_>, sql: &'static str) -> Result<(), FaultError> {
    let mut session = Session::open(&site.mysql_replica()?.mysql.url()).await?;
    session.execute(sql, sql).await
}
