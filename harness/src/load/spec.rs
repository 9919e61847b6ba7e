//! What is offered to whom, without a word about stores and servers: the part of a plan that a load needs.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::population::Population;
use super::schedule::Schedule;
use crate::figures::rate;
use crate::target::Target;

/// How requests are offered.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Load {
    pub schedule: Schedule,
    pub connections: u32,
    /// Requests that may be unanswered on one connection (HTTP/1.1 pipelining); 1 is a browser.
    pub depth: u32,
    /// After this a request's outcome is unknown and its connection is replaced.
    pub timeout_ms: u64,
    /// The schedule is not the drill's own: its rates were more than this machine holds.
    #[serde(default)]
    pub fitted: Option<Fitted>,
}

/// What became of a drill's rates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fitted {
    /// Highest rate of the drill as written.
    pub asked_per_s: f64,
    /// The share of all rates that was left.
    pub share: f64,
    /// Why the full rate was not held in a trial.
    pub reason: String,
}

impl fmt::Display for Fitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "this machine does not hold the {}/s that the drill asks for ({}): it runs at {}/s",
            rate(self.asked_per_s),
            self.reason,
            rate(self.asked_per_s * self.share)
        )
    }
}

/// What makes the next request go out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Loop {
    /// The schedule, whatever the server does.
    #[default]
    Open,
    /// The answer to an earlier one: every connection is kept full. The schedule gives the length only.
    Closed,
}

/// One load. Of the target it needs the requests, the meaning of answers, and the field of the order id.
#[derive(Debug, Clone)]
pub struct LoadSpec {
    /// Root of every random stream.
    pub seed: u64,
    /// Fills `{sale}`.
    pub sale: String,
    /// Fill `{sku}`; at least one.
    pub skus: Vec<String>,
    pub load: Load,
    pub kind: Loop,
    pub population: Population,
    pub target: Target,
}
