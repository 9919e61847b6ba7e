//! Figures for tests: a second's, of which the servers' CPU is all.

use super::java::{JavaClient, Transactions};
use super::phase::Phase;
use super::spent::Spent;
use super::way::{Taken, Way};

fn a_second_of_java() -> Spent {
    Spent([("java".to_owned(), 1.0)].into())
}

pub fn taken(name: &'static str, accepted_per_s: f64) -> Taken {
    Taken {
        way: Way {
            name,
            variant: None,
        },
        verdict: "pass".to_owned(),
        counted: Phase {
            offered_per_s: 3_000.0,
            accepted_per_s,
            written_per_s: accepted_per_s,
        },
        spent: a_second_of_java(),
        accepted: accepted_per_s as u64,
    }
}

pub fn client(committed_per_s: f64) -> JavaClient {
    JavaClient::Measured {
        transactions: Transactions {
            committed: committed_per_s as u64,
            seconds: 1.0,
            committed_per_s,
            failures: 0,
        },
        spent: a_second_of_java(),
    }
}
