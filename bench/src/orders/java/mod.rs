//! RocketMQ's own Java client alone: what the broker and this machine give when nobody but it works.
//!
//! It has the servers of the drills, set up as there, and reaches them as the bundled service does: through the fault
//! proxy. The figures count once Java has compiled what runs often, in the client and in the broker: it commits several
//! times as much then. A drill's broker has no such time, so a way in its short form looks worse beside it than it is.

mod client;
mod error;
mod stack;
mod transactions;

use serde::Serialize;

use super::metered::metered;
use super::spent::{Meter, Spent};
use crate::drills::Drills;
use client::Program;
use error::JavaError;
use stack::Stack;

pub use transactions::Transactions;

/// Each has one transaction in flight.
pub const THREADS: u32 = 64;

#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum JavaClient {
    Measured {
        transactions: Transactions,
        /// While they were counted: the servers by their programs' names, and the client.
        spent: Spent,
    },
    /// Why.
    NotMeasured(String),
}

/// How long.
#[derive(Debug, Clone, Copy)]
struct Times {
    warm_up_s: u32,
    counted_s: u32,
}

impl Times {
    const FULL: Self = Self {
        warm_up_s: 15,
        counted_s: 30,
    };

    const SHORT: Self = Self {
        warm_up_s: 10,
        counted_s: 10,
    };
}

impl JavaClient {
    /// Starts servers, measures, stops them.
    pub fn measure(drills: &Drills, is_short: bool) -> Self {
        let times = if is_short { Times::SHORT } else { Times::FULL };
        match measured(drills, times) {
            Ok((transactions, spent)) => Self::Measured {
                transactions,
                spent,
            },
            Err(error) => Self::NotMeasured(error.to_string()),
        }
    }
}

fn measured(drills: &Drills, times: Times) -> Result<(Transactions, Spent), JavaError> {
    let scratch = drills.scratch();
    let program = Program::compile(&scratch.join("java"))?;
    let stack = Stack::start(&drills.flashdrill, &scratch.join("stack-logs"))?;
    let mut client = program.start(&stack.name_server, times)?;
    let meter = Meter::default()
        .and(stack.pid(), None)
        .and(client.pid(), Some("java client"));
    let spent = metered(client.child(), meter)?;
    Ok((Transactions::read(&client.printed()?)?, spent))
}
