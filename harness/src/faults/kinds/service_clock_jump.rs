//! A service node's clock is wrong.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Deserialize;

use crate::faults::error::FaultError;
use crate::faults::kind::{Kind, Need, kind};
use crate::faults::node::Node;
use crate::faults::site::Site;

kind! {
    /// Sets the clock of a service node ahead of the machine's, or behind it; right again when healed.
    pub struct ServiceClockJump {
        /// How far ahead, ms; negative: behind.
        pub offset_ms: i64,
        /// Number of the node, from 0.
        pub node: u64 = 0,
    }
}

/// How far a node's clock is ahead of ours. It was read between our request and its answer, so there are two bounds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lead {
    ms_min: i64,
    ms_max: i64,
}

impl Lead {
    fn is_nil(self) -> bool {
        self.ms_min <= 0 && self.ms_max >= 0
    }
}

impl fmt::Display for Lead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ms_min, ms_max } = self;
        if *ms_min > 0 {
            write!(f, "at least {ms_min} ms ahead of ours")
        } else if *ms_max < 0 {
            write!(f, "at least {} ms behind ours", -ms_max)
        } else {
            write!(f, "right, within {} ms", ms_max - ms_min)
        }
    }
}

/// What a node answers whose clock is set.
#[derive(Deserialize)]
struct Reading {
    now_ms: i64,
}

impl ServiceClockJump {
    /// Sets the clock and reads it.
    async fn set(&self, site: Site<'_>, offset_ms: i64) -> Result<Lead, FaultError> {
        let extra = [("offset_ms", offset_ms.to_string())];
        let request = site.target.start.clock.as_ref();
        let node = Node(self.node);
        let asked_at_ms = now_ms();
        let answer = node.ask(site, "start.clock", request, &extra).await?;
        let answered_at_ms = now_ms();
        let reading: Reading = serde_json::from_str(&answer).map_err(|error| {
            FaultError::missing(format!("the answer {answer:?} tells no now_ms: {error}"))
        })?;
        Ok(Lead {
            ms_min: reading.now_ms - answered_at_ms,
            ms_max: reading.now_ms - asked_at_ms,
        })
    }
}

fn now_ms() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default().as_millis() as i64
}

impl Kind for ServiceClockJump {
    /// As last read; None: the clock was never touched.
    type State = Option<Lead>;
    const NEEDS: &'static [Need] = &[Need::Failpoints];

    async fn applicable(
        &self,
        lead: &mut Option<Lead>,
        site: Site<'_>,
    ) -> Result<String, FaultError> {
        *lead = Some(self.set(site, 0).await?);
        let Self { node, offset_ms } = self;
        Ok(format!("service-{node}: clock off by {offset_ms} ms"))
    }

    async fn inject(&self, lead: &mut Option<Lead>, site: Site<'_>) -> Result<(), FaultError> {
        *lead = Some(self.set(site, self.offset_ms).await?);
        Ok(())
    }

    async fn receipt(&self, lead: &mut Option<Lead>, _: Site<'_>) -> Result<String, FaultError> {
        let lead = lead.ok_or_else(|| FaultError::missing("the clock was not read"))?;
        let said = format!("service-{}'s clock is {lead}", self.node);
        if lead.is_nil() {
            return Err(FaultError::missing(said));
        }
        Ok(said)
    }

    async fn heal(&self, lead: &mut Option<Lead>, site: Site<'_>) -> Result<(), FaultError> {
        if lead.is_some() {
            *lead = Some(self.set(site, 0).await?);
        }
        Ok(())
    }

    async fn is_healed(&self, lead: &Option<Lead>, _: Site<'_>) -> Result<(), FaultError> {
        match lead {
            Some(lead) if !lead.is_nil() => {
                let missing = format!("service-{}'s clock is {lead}", self.node);
                Err(FaultError::missing(missing))
            }
            _ => Ok(()),
        }
    }
}
