//! Draws drills: a pure function of the seed, the number of the drill, and what can be broken.

use super::draft::{
    Draft, DraftExpect, DraftFault, DraftLoad, DraftPopulation, DraftSale, DraftService,
};
use super::menu::{Offer, Scene};
use crate::check::CheckId;
use crate::load::random::{Dice, draw, stream};
use crate::load::schedule::{ArrivalProcess, Phase, Schedule, Shape};

/// What must hold whatever is broken. How much can be sold meanwhile depends on the machine, so L4 is not asked.
const CHECKS: [CheckId; 11] = [
    CheckId::S1,
    CheckId::S2,
    CheckId::S3,
    CheckId::S4,
    CheckId::S5,
    CheckId::S6,
    CheckId::S8,
    CheckId::L1,
    CheckId::L2,
    CheckId::L3,
    CheckId::L6,
];

/// A service that is slow while it is broken makes buyers wait for a connection, and response times are counted from the
/// intended start. What is explored is whether anything is lost, not how long it takes.
const LAG_US_MAX: u64 = 10_000_000;

/// Drill `number` of `seed`.
pub fn draft(seed: u64, number: u64, menu: &[Offer]) -> Draft {
    let of_drill = draw(stream(seed, "explore"), number);
    let mut dice = Dice::new(of_drill);
    let schedule = schedule(&mut dice);
    let (asked, load_ms) = (schedule.count(), schedule.duration_ms());
    let service = DraftService {
        nodes: dice.within(1..=3),
    };
    let sale = sale(&mut dice, asked);
    let scene = Scene {
        skus: sale.skus,
        nodes: service.nodes,
    };
    let population = population(&mut dice, asked);
    let mut draft = Draft {
        title: String::new(),
        controls: Vec::new(),
        seed: of_drill >> 1,
        service,
        sale,
        load: DraftLoad {
            connections: dice.pick(&[64, 256, 1_024]),
            schedule,
        },
        population,
        faults: faults(&mut dice, menu, scene, load_ms),
        expect: DraftExpect {
            checks: CHECKS.to_vec(),
            schedule_lag_us_p99_max: LAG_US_MAX,
            sell_out: false,
        },
    };
    draft.title = draft.summary();
    draft
}

fn schedule(dice: &mut Dice) -> Schedule {
    let count = dice.within(1..=2);
    Schedule {
        phases: (0..count).map(|_| phase(dice)).collect(),
        on_top: Vec::new(),
        arrivals: dice.pick(&[ArrivalProcess::Even, ArrivalProcess::Poisson]),
    }
}

fn phase(dice: &mut Dice) -> Phase {
    // Rates that a service of one processor serves, faults and all: what is explored is not how much it holds.
    let rate_per_s = |dice: &mut Dice| dice.within(1..=8) as f64 * 100.0;
    let duration_ms = dice.within(4..=9) * 1_000;
    let (name, shape) = match dice.within(0..=2) {
        0 => (
            "constant",
            Shape::Constant {
                rate_per_s: rate_per_s(dice),
                duration_ms,
            },
        ),
        1 => (
            "ramp",
            Shape::Ramp {
                from_per_s: rate_per_s(dice),
                to_per_s: rate_per_s(dice),
                duration_ms,
            },
        ),
        _ => (
            "spike",
            Shape::Spike {
                base_per_s: rate_per_s(dice),
                peak_per_s: rate_per_s(dice) + 800.0,
                peak_at_ms: dice.within(0..=duration_ms / 2),
                peak_ms: dice.within(200..=1_200),
                duration_ms,
            },
        ),
    };
    Phase {
        name: name.to_owned(),
        shape,
    }
}

/// Units for a third to nearly twice what is asked for, so that some sales sell out and some do not.
fn sale(dice: &mut Dice, asked: u64) -> DraftSale {
    let skus = dice.within(1..=12);
    let share = dice.within(35..=180) as f64 / 100.0;
    DraftSale {
        skus,
        units_per_sku: ((asked as f64 * share) as u64 / skus).max(1),
        limit_per_user: dice.within(1..=3),
    }
}

fn population(dice: &mut Dice, asked: u64) -> DraftPopulation {
    let mut share = |most: u64| dice.within(0..=most) as f64 / 100.0;
    // Somebody must pay, or S3 has nothing to judge.
    let (duplicate_share, pay_share, cancel_share) = (share(20), 0.05 + share(35), share(20));
    let (race_share, status_share, retry_share) = (share(15), share(25), share(60));
    DraftPopulation {
        users: (asked as f64 * dice.pick(&[0.3, 1.0, 4.0])) as u64 + 1,
        sku_skew: dice.pick(&[0.0, 0.0, 0.8, 1.2]),
        duplicate_share,
        retry_share,
        retry_after_ms: dice.within(100..=1_000),
        pay_share,
        cancel_share,
        race_share,
        status_share,
    }
}

/// One to three, of different parts, in the first half of the load.
fn faults(dice: &mut Dice, menu: &[Offer], scene: Scene, load_ms: u64) -> Vec<DraftFault> {
    let count = dice.within(1..=3) as usize;
    let mut parts = Vec::new();
    let mut faults = Vec::new();
    for place in dice.shuffled(menu.len()) {
        let offer = &menu[place];
        if faults.len() == count || parts.contains(&offer.part) {
            continue;
        }
        parts.push(offer.part);
        let fault = (offer.make)(dice, scene);
        faults.push(DraftFault {
            at_ms: dice.within(500..=load_ms / 2),
            for_ms: fault
                .about()
                .heals
                .then(|| dice.within(offer.for_ms.clone())),
            fault,
        });
    }
    faults.sort_by_key(|one| one.at_ms);
    faults
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drill::resolve::{Choices, load_plan};
    use crate::environment::Setting;
    use crate::explore::menu::{Part, menu};
    use crate::faults::Grounds;
    use crate::target::Target;

    fn all() -> Vec<Offer> {
        menu_of("orders")
    }

    fn menu_of(topic: &str) -> Vec<Offer> {
        let mut target = Target::default();
        target.state.topic = topic.to_owned();
        menu(Grounds {
            setting: &Setting::default(),
            target: &target,
            service_nodes: 1,
        })
    }

    #[test]
    fn a_seed_draws_the_same_drills_and_another_others() {
        let drills = |seed| (0..20).map(move |number| draft(seed, number, &all()));
        assert!(drills(7).eq(drills(7)));
        assert!(drills(7).zip(drills(8)).all(|(one, other)| one != other));
    }

    #[test]
    fn every_drill_drawn_is_one_that_can_be_run() {
        let folder = tempfile::tempdir().unwrap();
        let targets = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../drills/targets/flashsale.toml"
        );
        let choices = Choices {
            target: Some(targets.to_owned()),
            ..Choices::default()
        };
        let mut kinds = std::collections::BTreeSet::new();
        for number in 0..300 {
            let drawn = draft(1, number, &all());
            let path = folder.path().join("drawn.toml");
            std::fs::write(&path, drawn.to_toml().unwrap()).unwrap();
            let plan = load_plan(&path, &choices).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(plan.seed, drawn.seed);
            assert_eq!(plan.load.schedule, drawn.load.schedule);
            let planned = plan.faults.iter().map(|one| &one.fault);
            assert!(planned.eq(drawn.faults.iter().map(|one| &one.fault)));
            kinds.extend(drawn.faults.iter().map(|one| one.fault.kind()));
        }
        assert!(kinds.len() >= 25, "all kinds of the menu come: {kinds:?}");
    }

    #[test]
    fn what_cannot_be_broken_here_is_not_drawn() {
        let queue: Vec<Offer> = all()
            .into_iter()
            .filter(|one| one.part == Part::Queue)
            .collect();
        for number in 0..50 {
            let drawn = draft(3, number, &queue);
            assert_eq!(drawn.faults.len(), 1, "one of a part");
        }
        assert!(draft(3, 0, &[]).faults.is_empty());
        let without_queue = menu_of("");
        assert!(without_queue.iter().all(|one| one.part != Part::Queue));
        assert!(without_queue.len() < all().len());
    }
}
