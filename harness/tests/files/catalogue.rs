//! The drills that come with Flashdrill.

use std::path::{Path, PathBuf};

use flashdrill::drill::catalogue;
use flashdrill::drill::plan::Plan;
use flashdrill::drill::resolve::{Choices, load_plan};
use flashdrill::load::arrival_times::ArrivalTimes;

/// A fault that needs buyers needs them for so long, at least.
const BITES_WITHIN_MS: u64 = 500;
/// What its buyers ask for is a hundred times what a sale can take in, so its stock lasts although they want more.
const WANTS_MORE_THAN_IT_HAS: &str = "baseline/flagship-kill";

fn shipped() -> Vec<PathBuf> {
    let drills = Path::new(env!("CARGO_MANIFEST_DIR")).join("../drills");
    catalogue::all(&drills).unwrap()
}

fn plan_of(path: &Path, short: bool) -> Plan {
    let choices = Choices {
        run: "test-run".to_owned(),
        short,
        seed: Some(1),
        ..Choices::default()
    };
    load_plan(path, &choices).unwrap_or_else(|error| panic!("{error}"))
}

/// Units that buyers ask for in the first `ms`.
fn asked_for(plan: &Plan, ms: u64) -> f64 {
    let times = ArrivalTimes::new(&plan.load.schedule, plan.seed);
    let arrivals = times.before(ms * 1_000_000);
    arrivals as f64 * f64::from(plan.population.quantity) * (1.0 - plan.population.duplicate_share)
}

#[test]
fn every_drill_resolves_and_says_what_it_proves_and_catches() {
    let drills = shipped();
    assert!(drills.len() >= 40, "{} drills", drills.len());
    for path in drills {
        let plan = plan_of(&path, false);
        assert!(
            path.ends_with(format!("{}.toml", plan.drill)),
            "{}",
            plan.drill
        );
        assert!(
            !plan.controls.is_empty() && !plan.mutants.is_empty(),
            "{}",
            plan.drill
        );
    }
}

/// A fault that comes when everything is sold breaks nothing that the drill is about. How fast a service sells differs
/// by machine, and buyers never get more than they ask for: where that is less than the stock, the sale goes on.
#[test]
fn every_fault_comes_while_there_is_something_to_sell() {
    let mut sold_out = Vec::new();
    let plans = shipped()
        .into_iter()
        .flat_map(|path| [false, true].map(|short| (short, plan_of(&path, short))));
    for (short, plan) in plans.filter(|(_, plan)| plan.drill != WANTS_MORE_THAN_IT_HAS) {
        let Some(last_ms) = plan.faults.iter().map(|fault| fault.at_ms).max() else {
            continue;
        };
        let stock: u64 = plan.sale.skus.iter().map(|sku| u64::from(sku.stock)).sum();
        let asked = asked_for(&plan, last_ms + BITES_WITHIN_MS);
        if asked > stock as f64 {
            let form = if short { "short" } else { "full" };
            sold_out.push(format!(
                "{} ({form}): {asked} asked for by {last_ms} ms, {stock} on sale",
                plan.drill
            ));
        }
    }
    assert!(sold_out.is_empty(), "{sold_out:#?}");
}
