//! A connection of which one direction is dead while the other lives.

use deserr::Deserr;
use serde::{Deserialize, Serialize};

use crate::drill::problems::Problems;
use crate::faults::kind::kind;
use crate::faults::link_toxic::{LinkToxic, some};
use crate::faults::links::{Links, Streams};
use crate::proxy::toxic::Effect;
use crate::proxy::traffic::Traffic;

kind! {
    /// Lets one direction of links die without a word while the other lives; connections are closed when healed.
    pub struct LinkHalfOpen {
        /// Names of links; `*` stands for any text.
        pub links: Links,
        /// What is lost: `requests`, or `answers` (so that what was asked for happens all the same).
        pub lost: Lost = Lost::Answers,
    }
}

/// The dead direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserr, Serialize, Deserialize)]
#[deserr(rename_all = lowercase, error = Problems)]
#[serde(rename_all = "lowercase")]
pub enum Lost {
    Requests,
    Answers,
}

impl LinkToxic for LinkHalfOpen {
    fn links(&self) -> &Links {
        &self.links
    }

    fn streams(&self) -> Streams {
        match self.lost {
            Lost::Requests => Streams::Upstream,
            Lost::Answers => Streams::Downstream,
        }
    }

    fn effect(&self) -> Effect {
        Effect::Timeout { timeout: 0 }
    }

    fn words(&self) -> String {
        "everything swallowed".to_owned()
    }

    fn evidence(&self, since: &Traffic) -> Result<String, &'static str> {
        let (dead, alive) = match self.lost {
            Lost::Requests => (since.upstream, since.downstream),
            Lost::Answers => (since.downstream, since.upstream),
        };
        let swallowed = some(
            dead.held_back_bytes,
            "bytes swallowed in the dead direction",
            "nothing flowed in the dead direction",
        )?;
        let passed = some(
            alive.forwarded_bytes,
            "bytes passed in the other",
            "nothing passed in the living direction",
        )?;
        Ok(format!("{swallowed}, {passed}"))
    }
}
