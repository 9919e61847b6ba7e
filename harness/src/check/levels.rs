//! How buyers were served before the faults, while they lasted, and after the service had time to recover.

use serde::{Deserialize, Serialize};

use super::Evidence;
use super::answers::Answers;
use super::spells::{Spell, Spells};
use crate::drill::last_call::is_last_call;
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
    spells: Spells,
    /// In the order of [`Spell`].
    services: [Service; 3],
}

/// The buys of one spell.
pub struct Service {
    spell: Spell,
    pub buys: u64,
    /// Those of them that met an outage or were not answered.
    pub outages: u64,
    pub first_outage: Option<Operation>,
    pub last_outage: Option<Operation>,
    /// Of the others.
    response: PhaseTimes,
}

impl Levels {
    pub fn new(evidence: &Evidence) -> Self {
        Self {
            spells: Spells::new(evidence),
            services: [Spell::Before, Spell::During, Spell::After].map(Service::new),
        }
    }

    /// Notes a buy. When the last call is made, all has been at rest.
    pub fn observe(&mut self, operation: &Operation, answers: &Answers) {
        if !is_last_call(operation.key) {
            let spell = self.spells.at(operation.sent_ns);
            self.services[spell as usize].add(operation, answers.is_outage(operation));
        }
    }

    pub fn service(&self, spell: Spell) -> &Service {
        &self.services[spell as usize]
    }

    /// Of the spells that any buyer came in, in the order of time.
    pub fn all(&self) -> Vec<Level> {
        self.services.iter().filter_map(Service::level).collect()
    }
}

impl Service {
    fn new(spell: Spell) -> Self {
        Self {
            spell,
            buys: 0,
            outages: 0,
            first_outage: None,
            last_outage: None,
            response: PhaseTimes::of_phase(),
        }
    }

    fn add(&mut self, buy: &Operation, is_outage: bool) {
        self.buys += 1;
        if !is_outage {
            self.response.record(buy.intended_ns, buy.completed_ns);
            return;
        }
        self.outages += 1;
        self.first_outage.get_or_insert_with(|| buy.clone());
        self.last_outage = Some(buy.clone());
    }

    /// None: nobody came.
    pub fn level(&self) -> Option<Level> {
        let times = self.response.percentiles();
        (self.buys > 0).then(|| Level {
            spell: self.spell,
            buys: self.buys,
            served_share: (self.buys - self.outages) as f64 / self.buys as f64,
            response_us_p50: times.p50,
            response_us_p99: times.p99,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::CheckId;
    use super::super::tiny_history::{Tiny, broker_killed};
    use super::*;
    use crate::drill::last_call::KEYS;

    /// Sent at `ms`, 1 ms later than intended, and answered `took_ms` after that.
    fn at(tiny: Tiny, ms: u64, took_ms: u64) -> Tiny {
        tiny.but(|one| {
            one.intended_ns = (ms - 1) * 1_000_000;
            one.sent_ns = ms * 1_000_000;
            one.completed_ns = (ms + took_ms) * 1_000_000;
        })
    }

    #[test]
    fn each_spell_has_its_buys_and_the_times_of_those_served() {
        let before = at(Tiny::sale(9).bought(1), 100, 0);
        let before = at(before.refused(2, "sold_out"), 200, 0);
        let before = at(before.bought(3), 300, 1);
        let before = at(before.refused(4, "paused"), 400, 500);
        let after = at(before.unknown(5), 9_000, 500);
        let last_call = at(after.unknown(KEYS.start), 9_500, 1);
        let tiny = last_call.with(|e| {
            e.plan.expect.recover_ms_max = 1_000;
            e.faults.push(broker_killed(1_000, 2_000));
        });
        let before = Level {
            spell: Spell::Before,
            buys: 4,
            served_share: 0.75,
            response_us_p50: 1_000,
            response_us_p99: 2_000,
        };
        let after = Level {
            spell: Spell::After,
            buys: 1,
            served_share: 0.0,
            response_us_p50: 0,
            response_us_p99: 0,
        };
        assert_eq!(tiny.judge(&[CheckId::S1]).levels, [before, after]);
    }
}
