//! How many orders a second are accepted and durable, by each way from a reservation to an order, and what one costs.
//!
//! The drill `baseline/orders` offers more than a small machine takes; its verdict says how many were accepted, and what
//! was accepted is in MySQL (L1, L3). All servers share the machine, so the figures compare the ways and nothing else.

mod spent;
mod table;

use std::io::{self, BufRead, BufReader};
use std::process::{Child, Stdio};

use serde::Serialize;

use crate::drills::{Drills, figure, verdict};
use crate::machine::Machine;
use spent::{Meter, Spent};

pub use table::markdown;

const DRILL: &str = "baseline/orders";
/// The drill says so on standard error.
const BEGUN: &str = "load starts";
const ENDED: &str = "load ended";

/// The ways, by the target's variants; the first is the service as it runs by default.
pub const WAYS: [Way; 4] = [
    Way {
        name: "rocketmq",
        variant: None,
    },
    Way {
        name: "outbox",
        variant: Some("outbox"),
    },
    Way {
        name: "outbox, one by one",
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

#[derive(Debug, Clone, Copy, Serialize)]
pub struct Settings {
    /// The drill in its short form.
    pub is_short: bool,
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

#[derive(Debug, Serialize)]
pub struct Orders {
    pub machine: Machine,
    pub settings: Settings,
    pub ways: Vec<Taken>,
}

/// Runs the drill by each way.
///
/// # Errors
/// Flashdrill is not built or cannot be run, or a drill left no verdict.
pub fn compare(settings: Settings) -> io::Result<Orders> {
    let drills = Drills::new("orders")?;
    let ways = WAYS.iter().map(|way| {
        eprintln!("bench: {DRILL} by {}", way.name);
        taken(&drills, *way, settings)
    });
    Ok(Orders {
        machine: Machine::here()?,
        settings,
        ways: ways.collect::<io::Result<_>>()?,
    })
}

fn taken(drills: &Drills, way: Way, settings: Settings) -> io::Result<Taken> {
    let mut command = drills.run(DRILL);
    command.args(way.variant.iter().flat_map(|name| ["--variant", name]));
    command.args(settings.is_short.then_some("--short"));
    let mut child = command.stderr(Stdio::piped()).spawn()?;
    let spent = metered(&mut child)?;
    let run = drills.latest(child.wait()?)?;
    let accepted = figure(&run, "sale", "accepted")?;
    let seconds = figure(&run, "load", "sent")? / figure(&run, "load", "sent_per_s")?;
    let verdict = verdict(&run)?;
    Ok(Taken {
        way,
        verdict: verdict["verdict"].as_str().unwrap_or("none").to_owned(),
        offered_per_s: figure(&run, "load", "offered_per_s")?,
        accepted_per_s: accepted / seconds,
        spent,
        accepted: accepted as u64,
    })
}

/// CPU of the drill's servers from the load's begin to its end; reads what the drill says until then.
fn metered(child: &mut Child) -> io::Result<Spent> {
    let lines = child.stderr.take().map(BufReader::new);
    let mut meter = Meter::new(child.id());
    let mut spent = Spent::default();
    for line in lines.into_iter().flat_map(BufRead::lines) {
        let line = line?;
        eprintln!("{line}");
        if line.ends_with(BEGUN) {
            meter.begin()?;
        } else if line.contains(ENDED) {
            spent = meter.end()?;
        }
    }
    Ok(spent)
}

impl Orders {
    /// Accepted by one way for each one accepted by another.
    pub fn ratio(&self, way: &str, other: &str) -> Option<f64> {
        let of = |name| self.ways.iter().find(|taken| taken.way.name == name);
        Some(of(way)?.accepted_per_s / of(other)?.accepted_per_s)
    }
}
