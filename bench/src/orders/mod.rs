//! How many orders a second are accepted and durable, by each way from a reservation to an order, and what one costs.
//!
//! The drill `baseline/orders` offers more than a small machine takes; its verdict says how many were accepted, and what
//! was accepted is in MySQL (L1, L3). Beside them stands RocketMQ's own Java client, which sends transactions and does
//! nothing else. All servers share the machine, so the figures compare the ways and nothing else.

mod bars;
mod java;
mod metered;
mod phase;
mod spent;
mod table;
#[cfg(test)]
mod testing;
mod way;

use std::io;

use serde::Serialize;

use crate::drills::Drills;
use crate::machine::Machine;
use java::JavaClient;
use way::{Taken, WAYS};

pub use table::markdown;

const DRILL: &str = "baseline/orders";
/// The part of its load that is counted: before that the broker warms up.
const PHASE: &str = "rush";

#[derive(Debug, Clone, Copy, Serialize)]
pub struct Settings {
    /// The drill in its short form.
    pub is_short: bool,
}

#[derive(Debug, Serialize)]
pub struct Orders {
    pub machine: Machine,
    pub settings: Settings,
    pub java_client: JavaClient,
    pub ways: Vec<Taken>,
}

/// Measures the Java client and runs the drill by each way.
///
/// # Errors
/// Flashdrill is not built or cannot be run, or a drill left no verdict. Of a Java client that cannot be measured the
/// figures say why.
pub fn compare(settings: Settings) -> io::Result<Orders> {
    let drills = Drills::new("orders")?;
    eprintln!("bench: the Java client alone");
    // Right before the way that it is compared with, since the machine's mood changes.
    let java_client = JavaClient::measure(&drills, settings.is_short);
    if let JavaClient::NotMeasured(why) = &java_client {
        eprintln!("bench: not measured: {why}");
    }
    let ways = WAYS.iter().map(|way| {
        eprintln!("bench: {DRILL} by {}", way.name);
        way.take(&drills, settings.is_short)
    });
    Ok(Orders {
        machine: Machine::here()?,
        settings,
        java_client,
        ways: ways.collect::<io::Result<_>>()?,
    })
}

impl Orders {
    fn way(&self, name: &str) -> Option<&Taken> {
        self.ways.iter().find(|taken| taken.way.name == name)
    }
}
