//! Consumers get messages again that they have had, as after a rebalance.

use crate::environment::links::ROCKETMQ_BROKER;
use crate::faults::cut_points::CutPoints;
use crate::faults::error::FaultError;
use crate::faults::kind::{Kind, Need, kind};
use crate::faults::site::Site;
use crate::proxy::cut::{Action, Cut, Protocol};

kind! {
    /// Lets consumers get messages twice: their next pull of a queue begins where the answered one did.
    pub struct BrokerDuplicateDelivery {
        /// How many pulls, from the next one that brings messages.
        pub times: u64 = 1,
    }
}

impl Kind for BrokerDuplicateDelivery {
    type State = CutPoints;
    const NEEDS: &'static [Need] = &[Need::BuiltInProxy];

    async fn applicable(&self, _: &mut CutPoints, _: Site<'_>) -> Result<String, FaultError> {
        let times = self.times;
        Ok(format!(
            "{ROCKETMQ_BROKER}: the next {times} pulls delivered twice"
        ))
    }

    async fn inject(&self, points: &mut CutPoints, site: Site<'_>) -> Result<(), FaultError> {
        let cut = Cut {
            times: self.times,
            ..Cut::next(Protocol::Remoting, "PULL_MESSAGE", Action::Twice)
        };
        points
            .place(site, vec![ROCKETMQ_BROKER.to_owned()], &cut)
            .await
    }

    async fn receipt(&self, points: &mut CutPoints, site: Site<'_>) -> Result<String, FaultError> {
        match points.fired(site).await? {
            0 => Err(FaultError::missing("no pull brought messages twice")),
            fired => Ok(format!("{fired} pulls delivered twice")),
        }
    }

    async fn heal(&self, points: &mut CutPoints, site: Site<'_>) -> Result<(), FaultError> {
        points.remove(site).await
    }

    async fn is_healed(&self, points: &CutPoints, site: Site<'_>) -> Result<(), FaultError> {
        points.are_gone(site).await
    }
}
