//! The ways from a reservation to an order, and what one of them takes in the drill.

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use serde::Serialize;

use super::DRILL;
use super::metered::metered;
use super::spent::{Meter, Spent};

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
    pub fn take(self, flashdrill: &Path, results: &Path, is_short: bool) -> io::Result<Taken> {
        let mut command = Command::new(flashdrill);
        command
            .args(["drill", "run", DRILL, "--results"])
            .arg(results);
        command.args(self.variant.iter().flat_map(|name| ["--variant", name]));
        command.args(is_short.then_some("--short"));
        let mut child = command
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let meter = Meter::default().and(child.id(), None);
        let spent = metered(&mut child, meter)?;
        let status = child.wait()?;
        let latest = fs::canonicalize(results.join("latest"));
        let run =
            latest.map_err(|_| io::Error::other(format!("the drill left no run: {status}")))?;
        self.judged(&verdict(&run)?, spent)
    }

    fn judged(self, verdict: &serde_json::Value, spent: Spent) -> io::Result<Taken> {
        let figure = |section: &str, name: &str| {
            verdict[section][name]
                .as_f64()
                .ok_or_else(|| io::Error::other(format!("verdict.json has no {section}.{name}")))
        };
        let (accepted, sent) = (figure("sale", "accepted")?, figure("load", "sent")?);
        let seconds = sent / figure("load", "sent_per_s")?;
        Ok(Taken {
            way: self,
            verdict: verdict["verdict"].as_str().unwrap_or("none").to_owned(),
            offered_per_s: figure("load", "offered_per_s")?,
            accepted_per_s: accepted / seconds,
            spent,
            accepted: accepted as u64,
        })
    }
}

fn verdict(run: &Path) -> io::Result<serde_json::Value> {
    Ok(serde_json::from_slice(&fs::read(
        run.join("verdict.json"),
    )?)?)
}
