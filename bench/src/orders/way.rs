//! The ways from a reservation to an order, and what one of them takes in the drill.

use std::io;
use std::process::Stdio;

use serde::Serialize;

use super::metered::metered;
use super::phase::Phase;
use super::spent::{Meter, Spent};
use super::{DRILL, PHASE};
use crate::drills::{Drills, figure, verdict};

pub const ROCKETMQ: &str = "rocketmq";
pub const OUTBOX: &str = "outbox";
pub const ONE_BY_ONE: &str = "outbox, one by one";

/// The ways, by the target's variants; the first is the service as it runs by default. The last two keep the stock in MySQL
/// otherwise than by a conditional UPDATE.
pub const WAYS: [Way; 6] = [
    Way {
        name: ROCKETMQ,
        variant: None,
    },
    Way {
        name: OUTBOX,
        variant: Some("outbox"),
    },
    Way {
        name: ONE_BY_ONE,
        variant: Some("one-by-one"),
    },
    Way {
        name: "stream",
        variant: Some("stream"),
    },
    Way {
        name: "rocketmq, stock by version",
        variant: Some("version"),
    },
    Way {
        name: "rocketmq, stock FOR UPDATE",
        variant: Some("locking"),
    },
];

#[derive(Debug, Clone, Copy, Serialize)]
pub struct Way {
    pub name: &'static str,
    pub variant: Option<&'static str>,
}

/// What one way took.
#[derive(Debug, Serialize)]
pub struct Taken {
    pub way: Way,
    pub verdict: String,
    pub counted: Phase,
    /// While the load ran, its warm-up included, all nodes and servers of a kind together.
    pub spent: Spent,
    /// In the same time.
    pub accepted: u64,
}

impl Way {
    /// Runs the drill, in its short form or in full length.
    ///
    /// # Errors
    /// Flashdrill cannot be run, or the drill left no verdict.
    pub fn take(self, drills: &Drills, is_short: bool) -> io::Result<Taken> {
        let mut command = drills.run(DRILL);
        command.args(self.variant.iter().flat_map(|name| ["--variant", name]));
        command.args(is_short.then_some("--short"));
        let mut child = command.stderr(Stdio::piped()).spawn()?;
        let meter = Meter::default().and(child.id(), None);
        let spent = metered(&mut child, meter)?;
        let run = drills.latest(child.wait()?)?;
        Ok(Taken {
            way: self,
            verdict: verdict(&run)?["verdict"]
                .as_str()
                .unwrap_or("none")
                .to_owned(),
            counted: Phase::of(&run, PHASE)?,
            spent,
            accepted: figure(&run, "sale", "accepted")? as u64,
        })
    }
}
