//! Fewer connections than the service wants, as when others have taken them.

use crate::drill::range::Count;
use crate::faults::error::FaultError;
use crate::faults::kind::{Kind, kind};
use crate::faults::site::Site;
use crate::faults::sql::Session;

kind! {
    /// Lowers MySQL's max_connections and closes the service's connections, so that it gets fewer back; raised again
    /// when healed.
    pub struct MysqlConnectionLimit {
        /// Connections allowed, the harness's own included. MariaDB allows no less than 10.
        pub connections: Count,
    }
}

/// ER_CON_COUNT_ERROR. MariaDB's counter of them misses those that it refuses after the password.
const TOO_MANY: u16 = 1040;

/// Before the limit was set.
#[derive(Debug)]
pub(crate) struct Before {
    /// Held all the time: there may be no room for another one.
    session: Session,
    max_connections: u64,
    closed: usize,
}

impl Kind for MysqlConnectionLimit {
    type State = Option<Before>;

    async fn applicable(&self, _: &mut Self::State, _: Site<'_>) -> Result<String, FaultError> {
        Ok(format!(
            "mysql: max_connections = {}, connections of the service closed",
            self.connections.get()
        ))
    }

    async fn inject(&self, before: &mut Self::State, site: Site<'_>) -> Result<(), FaultError> {
        let mut session = Session::open(&site.stack.mysql.url()).await?;
        let step = "limiting connections";
        let max_connections = session
            .value(step, "SELECT @@GLOBAL.max_connections")
            .await?;
        let before = before.insert(Before {
            session,
            max_connections,
            closed: 0,
        });
        let limit = self.connections.get();
        let set = format!("SET GLOBAL max_connections = {limit}");
        before.session.execute(step, &set).await?;
        before.closed = close_those_of_the_service(&mut before.session, site).await?;
        Ok(())
    }

    /// The service has taken what there is: its account gets no more.
    async fn receipt(
        &self,
        before: &mut Self::State,
        site: Site<'_>,
    ) -> Result<String, FaultError> {
        let missing = || FaultError::missing("the limit was not set");
        let before = before.as_ref().ok_or_else(missing)?;
        match Session::open(&site.stack.mysql.service_account_url()).await {
            Ok(_) => Err(FaultError::missing(
                "the service's account still gets connections",
            )),
            Err(error) if error.mysql_code() == Some(TOO_MANY) => Ok(format!(
                "{} connections of the service closed; another one of its account is refused: {error}",
                before.closed
            )),
            Err(error) => Err(error),
        }
    }

    async fn heal(&self, before: &mut Self::State, site: Site<'_>) -> Result<(), FaultError> {
        let Some(before) = before else {
            return Ok(());
        };
        let set = format!("SET GLOBAL max_connections = {}", before.max_connections);
        if before
            .session
            .execute("raising the limit", &set)
            .await
            .is_err()
        {
            // Our connection is gone: the server keeps one place more for accounts like ours.
            before.session = Session::open(&site.stack.mysql.url()).await?;
            before.session.execute("raising the limit", &set).await?;
        }
        Ok(())
    }

    /// The service's account gets a connection.
    async fn is_healed(&self, _: &Self::State, site: Site<'_>) -> Result<(), FaultError> {
        Session::open(&site.stack.mysql.service_account_url())
            .await
            .map(drop)
    }
}

/// Its pools open new ones, and meet the limit.
async fn close_those_of_the_service(
    session: &mut Session,
    site: Site<'_>,
) -> Result<usize, FaultError> {
    let step = "closing the service's connections";
    let [owner, node] = site.stack.mysql.service_accounts();
    let sql = format!(
        "SELECT CAST(id AS SIGNED) FROM information_schema.processlist WHERE user IN ('{owner}', '{node}')"
    );
    let ids: Vec<i64> = session.column(step, &sql).await?;
    for id in &ids {
        // It may have ended by itself.
        let _ = session
            .execute(step, &format!("KILL CONNECTION {id}"))
            .await;
    }
    Ok(ids.len())
}
