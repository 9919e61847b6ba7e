//! Faults put together: which of a list take place, and when, as a pure function of the seed.

use super::PlannedFault;
use crate::load::random::{Dice, below, draw, stream};

/// How a list of faults becomes a plan. Lengths are in ms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Composition {
    /// How many take place in a round, drawn from the list; None: all.
    pub choose: Option<usize>,
    /// Injected so far apart, in a drawn order; once all are on, the longest `for_ms` passes, and they are healed as
    /// far apart, in another drawn order. None: when the list says.
    pub stagger_ms: Option<u64>,
    /// Each injection is up to so much later.
    pub jitter_ms: u64,
    /// How often all this happens, drawn anew each time.
    pub rounds: u64,
    /// From the last heal of a round to the earliest injection of the next.
    pub rest_ms: u64,
}

impl Composition {
    pub fn compose(&self, faults: &[PlannedFault], seed: u64) -> Vec<PlannedFault> {
        let round = |round: u64| {
            let mut dice = Dice::new(draw(stream(seed, "faults"), round));
            let mut planned = self.round(faults, &mut dice);
            for fault in &mut planned {
                fault.at_ms += round * self.period_ms(faults);
            }
            planned
        };
        (0..self.rounds).flat_map(round).collect()
    }

    /// No fault is injected later than this, whatever the seed.
    pub fn latest_ms(&self, faults: &[PlannedFault]) -> u64 {
        let last = match self.stagger_ms {
            None => faults.iter().map(|fault| fault.at_ms).max(),
            Some(_) => Some(begin_ms(faults) + self.stagger_all_ms(faults)),
        };
        let rounds = (self.rounds - 1).saturating_mul(self.period_ms(faults));
        rounds.saturating_add(last.unwrap_or_default() + self.jitter_ms)
    }

    fn round(&self, faults: &[PlannedFault], dice: &mut Dice) -> Vec<PlannedFault> {
        let order = dice.shuffled(faults.len());
        let mut chosen = order[..self.count(faults)].to_vec();
        let mut planned = match self.stagger_ms {
            None => {
                chosen.sort_unstable();
                chosen.iter().map(|at| faults[*at].clone()).collect()
            }
            Some(stagger_ms) => self.staggered(faults, &chosen, stagger_ms, dice),
        };
        for fault in &mut planned {
            let late_ms = below(dice.roll(), self.jitter_ms + 1);
            fault.at_ms += late_ms;
            if self.stagger_ms.is_some() {
                // The heal keeps its time, and so the order drawn for it.
                fault.for_ms = fault.for_ms.map(|ms| ms - late_ms);
            }
        }
        planned
    }

    fn staggered(
        &self,
        faults: &[PlannedFault],
        chosen: &[usize],
        stagger_ms: u64,
        dice: &mut Dice,
    ) -> Vec<PlannedFault> {
        let begin_ms = begin_ms(faults);
        let heal_from_ms =
            begin_ms + self.stagger_all_ms(faults) + self.jitter_ms + longest_ms(faults);
        let heals = dice.shuffled(chosen.len());
        let starts = (0_u64..).map(|place| begin_ms + place * stagger_ms);
        let planned = chosen.iter().zip(starts).zip(heals);
        planned
            .map(|((at, at_ms), place)| {
                let heal_ms = heal_from_ms + place as u64 * stagger_ms;
                PlannedFault {
                    at_ms,
                    for_ms: faults[*at].for_ms.map(|_| heal_ms - at_ms),
                    fault: faults[*at].fault.clone(),
                }
            })
            .collect()
    }

    fn count(&self, faults: &[PlannedFault]) -> usize {
        self.choose
            .map_or(faults.len(), |count| count.min(faults.len()))
    }

    /// From the first injection of a round to its last, at stated distances.
    fn stagger_all_ms(&self, faults: &[PlannedFault]) -> u64 {
        (self.count(faults) as u64).saturating_sub(1) * self.stagger_ms.unwrap_or_default()
    }

    /// From a round to the next. The same whatever was drawn, so that a seed does not move the rounds.
    fn period_ms(&self, faults: &[PlannedFault]) -> u64 {
        let length_ms = match self.stagger_ms {
            None => {
                let ends = faults
                    .iter()
                    .map(|fault| fault.at_ms + fault.for_ms.unwrap_or(0));
                ends.max().unwrap_or_default() - begin_ms(faults)
            }
            Some(_) => 2 * self.stagger_all_ms(faults) + longest_ms(faults),
        };
        length_ms + self.jitter_ms + self.rest_ms
    }
}

fn begin_ms(faults: &[PlannedFault]) -> u64 {
    let starts = faults.iter().map(|fault| fault.at_ms);
    starts.min().unwrap_or_default()
}

fn longest_ms(faults: &[PlannedFault]) -> u64 {
    let lengths = faults.iter().filter_map(|fault| fault.for_ms);
    lengths.max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::{BrokerKill, Fault};

    const SEEDS: std::ops::Range<u64> = 0..200;

    /// Faults that can be told apart, one second long, 100 ms apart from 1,000 ms on.
    fn faults(count: u64) -> Vec<PlannedFault> {
        let fault = |number| PlannedFault {
            at_ms: 1_000 + 100 * number,
            for_ms: Some(1_000),
            fault: Fault::BrokerKill(BrokerKill {
                cut_requests_ms: number,
            }),
        };
        (0..count).map(fault).collect()
    }

    fn as_written() -> Composition {
        Composition {
            choose: None,
            stagger_ms: None,
            jitter_ms: 0,
            rounds: 1,
            rest_ms: 0,
        }
    }

    fn number(planned: &PlannedFault) -> u64 {
        match &planned.fault {
            Fault::BrokerKill(kill) => kill.cut_requests_ms,
            other => panic!("{other:?}"),
        }
    }

    fn heal_ms(planned: &PlannedFault) -> u64 {
        planned.at_ms + planned.for_ms.unwrap()
    }

    fn order_by(planned: &[PlannedFault], key: impl Fn(&PlannedFault) -> u64) -> Vec<u64> {
        let mut planned: Vec<_> = planned.iter().collect();
        planned.sort_by_key(|fault| key(fault));
        planned.into_iter().map(number).collect()
    }

    #[test]
    fn without_a_word_the_plan_is_the_list() {
        assert_eq!(as_written().compose(&faults(4), 7), faults(4));
    }

    #[test]
    fn a_seed_repeats_its_plan_and_others_differ() {
        let swizzle = Composition {
            choose: Some(3),
            stagger_ms: Some(200),
            jitter_ms: 150,
            rounds: 3,
            rest_ms: 500,
        };
        let plans: Vec<_> = SEEDS
            .map(|seed| swizzle.compose(&faults(5), seed))
            .collect();
        for seed in SEEDS {
            assert_eq!(swizzle.compose(&faults(5), seed), plans[seed as usize]);
        }
        let different = |plan| plans.iter().filter(|other| *other != plan).count();
        assert_eq!(different(&plans[0]), plans.len() - 1);
        assert_ne!(plans[0][..3], plans[0][3..6], "each round is drawn anew");
    }

    #[test]
    fn every_subset_is_drawn_and_each_fault_once_a_round() {
        let two = Composition {
            choose: Some(2),
            ..as_written()
        };
        let mut seen = std::collections::BTreeSet::new();
        for seed in SEEDS {
            let planned = two.compose(&faults(4), seed);
            let numbers: Vec<u64> = planned.iter().map(number).collect();
            assert!(numbers.len() == 2 && numbers[0] < numbers[1], "{numbers:?}");
            seen.insert(numbers);
        }
        assert_eq!(seen.len(), 6, "{seen:?}");
    }

    #[test]
    fn a_swizzle_breaks_in_one_order_and_heals_in_another() {
        let swizzle = Composition {
            stagger_ms: Some(300),
            jitter_ms: 100,
            ..as_written()
        };
        let mut reordered = 0;
        for seed in SEEDS {
            let planned = swizzle.compose(&faults(4), seed);
            let (first, last) = (1_000, 1_000 + 3 * 300 + 100);
            for (place, fault) in planned.iter().enumerate() {
                let stated = first + 300 * place as u64;
                assert!((stated..=stated + 100).contains(&fault.at_ms), "{fault:?}");
                assert!(
                    heal_ms(fault) >= last + 1_000,
                    "on while others come: {fault:?}"
                );
            }
            let mut heals: Vec<u64> = planned.iter().map(heal_ms).collect();
            heals.sort_unstable();
            assert_eq!(heals, [3_000, 3_300, 3_600, 3_900]);
            let orders = [
                order_by(&planned, |fault| fault.at_ms),
                order_by(&planned, heal_ms),
            ];
            reordered += usize::from(orders[0] != orders[1]);
        }
        assert!(reordered > 150, "{reordered} of 200");
    }

    #[test]
    fn rounds_follow_each_other_and_nothing_is_later_than_said() {
        for stagger_ms in [None, Some(250)] {
            let rounds = Composition {
                choose: Some(2),
                stagger_ms,
                jitter_ms: 120,
                rounds: 4,
                rest_ms: 700,
            };
            for seed in SEEDS {
                let planned = rounds.compose(&faults(3), seed);
                assert_eq!(planned.len(), 8);
                for pair in planned.chunks(2).collect::<Vec<_>>().windows(2) {
                    let healed = pair[0].iter().map(heal_ms).max();
                    let next = pair[1].iter().map(|fault| fault.at_ms).min();
                    assert!(next >= healed.map(|ms| ms + 700), "{pair:?}");
                }
                let latest = planned.iter().map(|fault| fault.at_ms).max().unwrap();
                assert!(latest <= rounds.latest_ms(&faults(3)), "{planned:?}");
            }
        }
    }

    #[test]
    fn a_change_of_state_is_never_healed() {
        let mut changes = faults(3);
        changes[1].for_ms = None;
        let swizzle = Composition {
            stagger_ms: Some(100),
            jitter_ms: 30,
            ..as_written()
        };
        for seed in SEEDS {
            for fault in swizzle.compose(&changes, seed) {
                assert_eq!(fault.for_ms.is_none(), number(&fault) == 1);
            }
        }
    }
}
