//! How buyers were served before the faults, while they lasted, and after the service had time to recover.

use serde::{Deserialize, Serialize};

use super::answers::Answers;
use super::calm::{Calm, Spell};
use crate::history::operation::Operation;
use crate::load::latency::PhaseTimes;

/// Service in one spell; a run without faults has the first only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Level {
    pub spell: Spell,
    pub buys: u64,
    /// Of them: answered, and not that the service is out.
    pub served_share: f64,
    /// From the intended start to the answer, of those served.
    pub response_us_p50: u64,
    pub response_us_p99: u64,
}

/// Collects them while the history streams by.
pub struct Levels {
    spells: [SpellTimes; 3],
}

struct SpellTimes {
    spell: Spell,
    buys: u64,
    served: u64,
    response: PhaseTimes,
}

impl Levels {
    pub fn new() -> Self {
        let of = |spell| SpellTimes {
            spell,
            buys: 0,
            served: 0,
            response: PhaseTimes::of_phase(),
        };
        Self {
            spells: [Spell::Before, Spell::During, Spell::After].map(of),
        }
    }

    /// Notes a buy of the load or of a journey.
    pub fn observe(&mut self, operation: &Operation, calm: &Calm, answers: &Answers) {
        let one = &mut self.spells[calm.spell(operation.sent_ns) as usize];
        one.buys += 1;
        if !answers.is_outage(operation) {
            one.served += 1;
            one.response
                .record(operation.intended_ns, operation.completed_ns);
        }
    }

    /// Those that any buyer came in, in the order of time.
    pub fn all(&self) -> Vec<Level> {
        let met = self.spells.iter().filter(|one| one.buys > 0);
        met.map(SpellTimes::level).collect()
    }

    pub fn of(&self, spell: Spell) -> Option<Level> {
        self.all().into_iter().find(|level| level.spell == spell)
    }
}

impl SpellTimes {
    fn level(&self) -> Level {
        let times = self.response.percentiles();
        Level {
            spell: self.spell,
            buys: self.buys,
            served_share: self.served as f64 / self.buys as f64,
            response_us_p50: times.p50,
            response_us_p99: times.p99,
        }
    }
}
