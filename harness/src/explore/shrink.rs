//! Smaller drills: each step takes one thing away from a drill that fails.

use super::draft::Draft;
use crate::load::schedule::{Schedule, Shape};

/// Below this a drill is not made smaller.
const LOAD_MS_MIN: u64 = 2_000;
const PEAK_PER_S_MIN: f64 = 100.0;
const FOR_MS_MIN: u64 = 400;

/// A smaller drill, and what was taken away.
#[derive(Debug, Clone, PartialEq)]
pub struct Smaller {
    pub draft: Draft,
    pub without: String,
}

/// Every drill one step smaller, the largest steps first. All times are shortened together, so that a fault stays where
/// it was in the sale.
pub fn smaller(draft: &Draft) -> Vec<Smaller> {
    let mut steps = Vec::new();
    for (place, fault) in draft.faults.iter().enumerate() {
        let mut less = draft.clone();
        less.faults.remove(place);
        steps.push(step(less, format!("without {}", fault.fault.kind())));
    }
    steps.extend(slower(draft));
    steps.extend(shorter(draft));
    steps.extend(calmer(draft));
    if draft.service.nodes > 1 && !names_nodes(draft) {
        let mut less = draft.clone();
        less.service.nodes = 1;
        steps.push(step(less, "one node".to_owned()));
    }
    steps
}

fn step(mut draft: Draft, without: String) -> Smaller {
    draft.title = draft.summary();
    Smaller { draft, without }
}

/// Half the rate, for half the stock.
fn slower(draft: &Draft) -> Option<Smaller> {
    if draft.load.schedule.timetable().peak_per_s() / 2.0 < PEAK_PER_S_MIN {
        return None;
    }
    let mut less = draft.clone();
    less.load.schedule = draft.load.schedule.at_share(0.5);
    less.sale.units_per_sku = (draft.sale.units_per_sku / 2).max(1);
    Some(step(less, "half the rate".to_owned()))
}

/// Half as long, for half the stock.
fn shorter(draft: &Draft) -> Option<Smaller> {
    if draft.load.schedule.duration_ms() / 2 < LOAD_MS_MIN {
        return None;
    }
    let mut less = draft.clone();
    less.load.schedule = in_half_the_time(&draft.load.schedule);
    less.sale.units_per_sku = (draft.sale.units_per_sku / 2).max(1);
    for fault in &mut less.faults {
        fault.at_ms /= 2;
        fault.for_ms = fault.for_ms.map(|ms| (ms / 2).max(FOR_MS_MIN));
    }
    Some(step(less, "half the time".to_owned()))
}

/// Everybody buys once and does nothing else.
fn calmer(draft: &Draft) -> Option<Smaller> {
    let mut less = draft.clone();
    let buyers = &mut less.population;
    for share in [
        &mut buyers.duplicate_share,
        &mut buyers.retry_share,
        &mut buyers.pay_share,
        &mut buyers.cancel_share,
        &mut buyers.race_share,
        &mut buyers.status_share,
    ] {
        *share = 0.0;
    }
    (less != *draft).then(|| step(less, "buyers who only buy".to_owned()))
}

/// A fault is about one of the nodes.
fn names_nodes(draft: &Draft) -> bool {
    let names = |fault| serde_json::to_string(fault).is_ok_and(|text| text.contains("\"service-"));
    draft.faults.iter().any(|one| names(&one.fault))
}

fn in_half_the_time(schedule: &Schedule) -> Schedule {
    let mut half = schedule.clone();
    for phase in &mut half.phases {
        halve(&mut phase.shape);
    }
    half
}

fn halve(shape: &mut Shape) {
    match shape {
        Shape::Constant { duration_ms, .. }
        | Shape::Ramp { duration_ms, .. }
        | Shape::Steps { duration_ms, .. } => *duration_ms /= 2,
        Shape::Spike {
            peak_at_ms,
            peak_ms,
            duration_ms,
            ..
        } => {
            *peak_at_ms /= 2;
            *peak_ms = (*peak_ms / 2).max(1);
            *duration_ms /= 2;
        }
        // Never drawn.
        Shape::Cliff { .. } | Shape::Trace { .. } => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::Setting;
    use crate::explore::generate::draft;
    use crate::explore::menu::menu;
    use crate::faults::Grounds;
    use crate::target::Target;

    fn drawn(number: u64) -> Draft {
        let setting = Setting::default();
        let target = Target::default();
        let grounds = Grounds {
            setting: &setting,
            target: &target,
            service_nodes: 1,
        };
        draft(5, number, &menu(grounds))
    }

    /// What a drill costs, in every respect in which it can be made smaller.
    fn size(draft: &Draft) -> f64 {
        let peak_per_s = draft.load.schedule.timetable().peak_per_s();
        let buyers = &draft.population;
        let shares = buyers.duplicate_share
            + buyers.retry_share
            + buyers.pay_share
            + buyers.cancel_share
            + buyers.race_share
            + buyers.status_share;
        draft.faults.len() as f64
            + draft.service.nodes as f64
            + peak_per_s / 1e4
            + draft.load.schedule.duration_ms() as f64 / 1e6
            + shares
    }

    #[test]
    fn every_step_makes_it_smaller_and_there_is_an_end() {
        for number in 0..50 {
            let mut at = drawn(number);
            let mut steps = 0;
            while let Some(next) = smaller(&at).pop() {
                assert!(size(&next.draft) < size(&at), "{}", next.without);
                at = next.draft;
                steps += 1;
            }
            assert!((1..40).contains(&steps));
            assert!(at.faults.is_empty(), "{}", at.title);
        }
    }

    #[test]
    fn a_fault_stays_where_it_was_in_the_sale() {
        let whole = drawn(1);
        let short = shorter(&whole).unwrap().draft;
        let place = |draft: &Draft| {
            let load_ms = draft.load.schedule.duration_ms() as f64;
            let at = draft.faults.iter().map(|one| one.at_ms as f64 / load_ms);
            at.map(|share| (share * 100.0).round()).collect::<Vec<_>>()
        };
        assert_eq!(place(&whole), place(&short));
    }
}
