//! MySQL commits and the service is not told: was it, or was it not?

use crate::faults::cut_points::{CutPoints, service_links};
use crate::faults::error::FaultError;
use crate::faults::kind::{Kind, Need, kind};
use crate::faults::site::Site;
use crate::proxy::cut::{Action, Cut, Protocol, Then};

kind! {
    /// Lets MySQL execute COMMITs of the service and loses the replies, on each of the service's links: the connection
    /// is reset instead.
    pub struct MysqlCommitReplyLost {
        /// How many in a row, from the next one.
        pub times: u64 = 1,
    }
}

impl Kind for MysqlCommitReplyLost {
    type State = CutPoints;
    const NEEDS: &'static [Need] = &[Need::BuiltInProxy];

    async fn applicable(&self, _: &mut CutPoints, site: Site<'_>) -> Result<String, FaultError> {
        let links = service_links(site, "mysql").await?.join(", ");
        let times = self.times;
        Ok(format!("{links}: replies to the next {times} COMMITs lost"))
    }

    async fn inject(&self, points: &mut CutPoints, site: Site<'_>) -> Result<(), FaultError> {
        let lose = Action::LoseReply { then: Then::Reset };
        let cut = Cut {
            times: self.times,
            ..Cut::next(Protocol::Mysql, "COMMIT", lose)
        };
        points
            .place(site, service_links(site, "mysql").await?, &cut)
            .await
    }

    async fn receipt(&self, points: &mut CutPoints, site: Site<'_>) -> Result<String, FaultError> {
        match points.fired(site).await? {
            0 => Err(FaultError::missing("no COMMIT was executed")),
            fired => Ok(format!("replies to {fired} executed COMMITs lost")),
        }
    }

    async fn heal(&self, points: &mut CutPoints, site: Site<'_>) -> Result<(), FaultError> {
        points.remove(site).await
    }

    async fn is_healed(&self, points: &CutPoints, site: Site<'_>) -> Result<(), FaultError> {
        points.are_gone(site).await
    }
}
