//! MySQL dies right after a COMMIT, whose reply nobody gets.

use crate::environment::Ending;
use crate::faults::cut_points::{CutPoints, service_links};
use crate::faults::error::FaultError;
use crate::faults::kind::{Kind, Need, kind};
use crate::faults::site::Site;
use crate::faults::sql::Session;
use crate::proxy::cut::{Action, Cut, Protocol, Then};

kind! {
    /// Kills MySQL (SIGKILL) at the service's next COMMIT, which was executed and whose reply is held back; started
    /// again when healed.
    pub struct MysqlCommitKill {}
}

/// The COMMIT that is waited for, and what came of it.
#[derive(Debug, Default)]
pub(crate) struct Killed {
    points: CutPoints,
    ended: Option<(u32, Ending)>,
}

impl Kind for MysqlCommitKill {
    type State = Killed;
    const NEEDS: &'static [Need] = &[Need::BuiltInProxy, Need::OwnServers];

    async fn applicable(&self, _: &mut Killed, site: Site<'_>) -> Result<String, FaultError> {
        let links = service_links(site, "mysql").await?.join(", ");
        Ok(format!("mysql: kill -9 at the next COMMIT on {links}"))
    }

    async fn inject(&self, killed: &mut Killed, site: Site<'_>) -> Result<(), FaultError> {
        let hold = Action::LoseReply { then: Then::Hang };
        let cut = Cut::next(Protocol::Mysql, "COMMIT", hold);
        let links = service_links(site, "mysql").await?;
        killed.points.place(site, links, &cut).await
    }

    /// Kills once the COMMIT was seen.
    async fn receipt(&self, killed: &mut Killed, site: Site<'_>) -> Result<String, FaultError> {
        let server = &site.stack.mysql.server;
        let (pid, ending) = match killed.ended {
            Some(ended) => ended,
            None if killed.points.fired(site).await? == 0 => {
                return Err(FaultError::missing("no COMMIT was executed"));
            }
            None => {
                let pid = server.pid().unwrap_or_default();
                let ended = *killed.ended.insert((pid, server.kill().await?));
                // Who waits for the reply sees the connection end, as with any dead server.
                killed.points.remove(site).await?;
                ended
            }
        };
        if !ending.was_killed() {
            return Err(FaultError::NotKilled {
                victim: "mysql".to_owned(),
                how: ending.to_string(),
            });
        }
        Ok(format!(
            "mysql (pid {pid}) exited by signal 9 after a COMMIT whose reply was held back"
        ))
    }

    async fn heal(&self, killed: &mut Killed, site: Site<'_>) -> Result<(), FaultError> {
        killed.points.remove(site).await?;
        Ok(site.stack.mysql.server.start_again().await?)
    }

    async fn is_healed(&self, killed: &Killed, site: Site<'_>) -> Result<(), FaultError> {
        killed.points.are_gone(site).await?;
        Session::open(&site.stack.mysql.service_account_url())
            .await
            .map(drop)
    }
}
