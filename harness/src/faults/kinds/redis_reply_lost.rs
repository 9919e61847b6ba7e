//! Redis reserves and the service is not told: was it, or was it not?

use crate::faults::cut_points::{CutPoints, service_links};
use crate::faults::error::FaultError;
use crate::faults::kind::{Kind, Need, kind};
use crate::faults::site::Site;
use crate::proxy::cut::{Action, Cut, Protocol, Then};

const REDIS: &str = "redis-*";

kind! {
    /// Lets Redis execute scripts of the service (EVALSHA) and loses the replies, on each of the service's links: the
    /// connection is reset instead, and with it all that was under way on it.
    pub struct RedisReplyLost {
        /// How many in a row, from the next one.
        pub times: u64 = 1,
    }
}

impl Kind for RedisReplyLost {
    type State = CutPoints;
    const NEEDS: &'static [Need] = &[Need::BuiltInProxy];

    async fn applicable(&self, _: &mut CutPoints, site: Site<'_>) -> Result<String, FaultError> {
        let links = service_links(site, REDIS).await?.join(", ");
        let times = self.times;
        Ok(format!("{links}: replies to the next {times} scripts lost"))
    }

    async fn inject(&self, points: &mut CutPoints, site: Site<'_>) -> Result<(), FaultError> {
        let lose = Action::LoseReply { then: Then::Reset };
        let cut = Cut {
            times: self.times,
            ..Cut::next(Protocol::Resp, "EVALSHA", lose)
        };
        points
            .place(site, service_links(site, REDIS).await?, &cut)
            .await
    }

    async fn receipt(&self, points: &mut CutPoints, site: Site<'_>) -> Result<String, FaultError> {
        match points.fired(site).await? {
            0 => Err(FaultError::missing("no script was executed")),
            fired => Ok(format!("replies to {fired} executed scripts lost")),
        }
    }

    async fn heal(&self, points: &mut CutPoints, site: Site<'_>) -> Result<(), FaultError> {
        points.remove(site).await
    }

    async fn is_healed(&self, points: &CutPoints, site: Site<'_>) -> Result<(), FaultError> {
        points.are_gone(site).await
    }
}
