//! Commits of transactional messages never reach the broker, which must ask back.

use crate::environment::links::ROCKETMQ_BROKER;
use crate::faults::cut_points::CutPoints;
use crate::faults::error::FaultError;
use crate::faults::kind::{Kind, Need, kind};
use crate::faults::site::Site;
use crate::proxy::cut::{Action, Cut, Protocol};

kind! {
    /// Loses commits and roll-backs of transactional messages (END_TRANSACTION) on their way to the broker, so that it
    /// must check back.
    pub struct BrokerCommitLost {
        /// How many in a row, from the next one.
        pub times: u64 = 1,
    }
}

impl Kind for BrokerCommitLost {
    type State = CutPoints;
    const NEEDS: &'static [Need] = &[Need::BuiltInProxy];

    async fn applicable(&self, _: &mut CutPoints, _: Site<'_>) -> Result<String, FaultError> {
        let times = self.times;
        Ok(format!(
            "{ROCKETMQ_BROKER}: the next {times} ends of transactions lost"
        ))
    }

    async fn inject(&self, points: &mut CutPoints, site: Site<'_>) -> Result<(), FaultError> {
        let cut = Cut {
            times: self.times,
            ..Cut::next(Protocol::Remoting, "END_TRANSACTION", Action::Drop)
        };
        points
            .place(site, vec![ROCKETMQ_BROKER.to_owned()], &cut)
            .await
    }

    async fn receipt(&self, points: &mut CutPoints, site: Site<'_>) -> Result<String, FaultError> {
        match points.fired(site).await? {
            0 => Err(FaultError::missing("no transaction was ended")),
            fired => Ok(format!("{fired} ends of transactions lost")),
        }
    }

    async fn heal(&self, points: &mut CutPoints, site: Site<'_>) -> Result<(), FaultError> {
        points.remove(site).await
    }

    async fn is_healed(&self, points: &CutPoints, site: Site<'_>) -> Result<(), FaultError> {
        points.are_gone(site).await
    }
}
