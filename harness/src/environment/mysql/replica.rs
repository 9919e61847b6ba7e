//! The server that follows the primary, through a proxied link of its own.

use std::time::Duration;

use sqlx::mysql::MySqlRow;
use sqlx::{Executor, Row};

use super::super::error::EnvironmentError;
use super::super::links;
use super::super::readiness::wait_until;
use super::{Mysql, Product};
use crate::proxy::ProxyClient;

/// A link that was cut is tried again every second, and what queued up meanwhile is replayed.
const IN_STEP_TIMEOUT: Duration = Duration::from_secs(30);

/// A read-only copy of the primary.
#[derive(Debug)]
pub struct MysqlReplica {
    pub mysql: Mysql,
    /// Where it dials the primary: the listener of the replication link. None: somebody else has told it whom to
    /// follow.
    link_port: Option<u16>,
}

/// What the replica says of its replication.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplicaStatus {
    /// Connected to the primary.
    pub receives: bool,
    pub replays: bool,
    /// None while it does not replay.
    pub behind_s: Option<u64>,
    /// Of either thread; empty when there is none.
    pub last_error: String,
}

impl ReplicaStatus {
    fn read(row: &MySqlRow, product: Product) -> Result<Self, sqlx::Error> {
        let [receives, replays, behind] = product.columns();
        let is_yes = |column| {
            let text: String = row.try_get_unchecked(column)?;
            Ok::<_, sqlx::Error>(text == "Yes")
        };
        let errors: [String; 2] = [
            row.try_get_unchecked("Last_IO_Error")?,
            row.try_get_unchecked("Last_SQL_Error")?,
        ];
        Ok(Self {
            receives: is_yes(receives)?,
            replays: is_yes(replays)?,
            behind_s: row.try_get_unchecked(behind)?,
            last_error: errors.join(" ").trim().to_owned(),
        })
    }

    /// What keeps it from being a copy of the primary's present; None: it follows.
    pub fn missing(&self) -> Option<String> {
        let missing = match (self.receives, self.replays, self.behind_s) {
            (true, true, Some(0)) => return None,
            (false, ..) => "it is not connected to the primary".to_owned(),
            (_, false, _) | (.., None) => "it does not replay".to_owned(),
            (.., Some(behind_s)) => format!("it is {behind_s} s behind"),
        };
        Some(format!("{missing} {}", self.last_error).trim().to_owned())
    }
}

impl MysqlReplica {
    /// Lets `mysql` follow `primary`, and waits until it does.
    pub(super) async fn of(
        primary: &Mysql,
        mysql: Mysql,
        proxy: &ProxyClient,
    ) -> Result<Self, EnvironmentError> {
        let link_port = links::open(proxy, links::MYSQL_REPLICATION, primary.address()).await?;
        let replica = Self {
            mysql,
            link_port: Some(link_port),
        };
        replica.begin_anew(primary).await?;
        Ok(replica)
    }

    /// A server that follows its primary already.
    pub(crate) fn attach(mysql: Mysql) -> Self {
        Self {
            mysql,
            link_port: None,
        }
    }

    /// Lets it follow from where the primary is now, whatever it had replayed or was told to write: one of ours is
    /// emptied and told to, another has never stopped.
    pub(crate) async fn begin_anew(&self, primary: &Mysql) -> Result<(), EnvironmentError> {
        if let Some(port) = self.link_port {
            self.follow_anew(primary, port).await?;
        }
        self.wait_in_step(primary).await
    }

    async fn follow_anew(&self, primary: &Mysql, port: u16) -> Result<(), EnvironmentError> {
        let product = self.mysql.product().await?;
        let position = primary.position().await?;
        let statements = ["STOP REPLICA".to_owned()]
            .into_iter()
            .chain(self.mysql.recreation())
            .chain(product.forget().map(str::to_owned))
            .chain(product.follow(port, &position));
        self.mysql
            .execute(statements)
            .await
            .map_err(|e| self.mysql.step("following the primary anew", e))
    }

    /// # Errors
    /// It cannot be asked.
    pub async fn status(&self) -> Result<ReplicaStatus, EnvironmentError> {
        let product = self.mysql.product().await?;
        let read = async {
            let mut connection = self.mysql.connect().await?;
            let row = connection
                .fetch_one(sqlx::raw_sql("SHOW REPLICA STATUS"))
                .await?;
            ReplicaStatus::read(&row, product)
        };
        read.await
            .map_err(|e| self.mysql.step("SHOW REPLICA STATUS", e))
    }

    /// What keeps it from holding everything that the primary has committed; None: nothing.
    ///
    /// # Errors
    /// One of the two cannot be asked.
    pub async fn missing(&self, primary: &Mysql) -> Result<Option<String>, EnvironmentError> {
        if let Some(missing) = self.status().await?.missing() {
            return Ok(Some(missing));
        }
        let position = self.unreplayed(primary).await?;
        Ok(position.map(|position| format!("it has not replayed {position}")))
    }

    /// How far the primary is, if this one has not replayed that much; None: it has.
    ///
    /// # Errors
    /// One of the two cannot be asked.
    pub async fn unreplayed(&self, primary: &Mysql) -> Result<Option<String>, EnvironmentError> {
        let position = primary.position().await?;
        let product = self.mysql.product().await?;
        let behind: i64 = self
            .mysql
            .read(&product.has_replayed(&position))
            .await
            .map_err(|e| self.mysql.step("comparing it with the primary", e))?;
        Ok((behind != 0).then_some(position))
    }

    /// Waits until it holds everything that the primary has committed.
    pub(crate) async fn wait_in_step(&self, primary: &Mysql) -> Result<(), EnvironmentError> {
        wait_until(&self.mysql.server, IN_STEP_TIMEOUT, || async {
            match self.missing(primary).await {
                Ok(None) => Ok(()),
                Ok(Some(missing)) => Err(missing),
                Err(error) => Err(error.to_string()),
            }
        })
        .await
    }

    /// Starts it again when it is dead; it goes on following by itself.
    pub(crate) async fn revive(&self) -> Result<(), EnvironmentError> {
        self.mysql.revive().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_is_missing() {
        let status = |receives, replays, behind_s| ReplicaStatus {
            receives,
            replays,
            behind_s,
            last_error: String::new(),
        };
        let cases = [
            (status(true, true, Some(0)), None),
            (status(true, true, Some(7)), Some("it is 7 s behind")),
            (
                status(false, true, Some(0)),
                Some("it is not connected to the primary"),
            ),
            (status(true, false, None), Some("it does not replay")),
        ];
        for (status, missing) in cases {
            assert_eq!(status.missing().as_deref(), missing);
        }
    }
}
