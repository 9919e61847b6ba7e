//! The ways from a reservation to an order, and what one of them takes in the drill.

use std::io;
use std::process::Stdio;

use serde::Serialize;

use super::DRILL;
use super::metered::metered;
use super::spent::{Meter, Spent};
use crate::drills::{Drills, figure, verdict};

pub const ROCKETMQ: &str = "rocketmq";
pub const OUTBOX: &str = "outbox";
pub const ONE_BY_ONE: &str = "outbox, one by one";

/// The ways, by the target's variants; the first is the service as it runs by default.
pub const WAYS: [Way; 4] = [
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
    pub offered_per_s: f64,
    pub accepted_per_s: f64,
    /// While the load ran, all nodes and servers of a kind together.
    pub spent: Spent,
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
        let (accepted, sent) = (
            figure(&run, "sale", "accepted")?,
            figure(&run, "load", "sent")?,
        );
        let seconds = sent / figure(&run, "load", "sent_per_s")?;
        Ok(Taken {
            way: self,
            verdict: verdict(&run)?["verdict"]
                .as_str()
                .unwrap_or("none")
                .to_owned(),
            offered_per_s: figure(&run, "load", "offered_per_s")?,
            accepted_per_s: accepted / seconds,
            spent,
            accepted: accepted as u64,
        })
    }
}
