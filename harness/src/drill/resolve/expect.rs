//! What must hold, and what must be caught.

use crate::check::CheckId;
use crate::drill::file::{DrillFile, ExpectSection, MutantSection};
use crate::drill::plan::{Expect, Mutant};
use crate::drill::problems::Problems;

pub fn check(file: &DrillFile, problems: &mut Problems) {
    let Some(expect) = &file.expect else { return };
    if expect.checks.iter().all(|check| *check == CheckId::P1) {
        problems.push(
            "expect.checks",
            "no checker of the sale; a drill must expect something",
        );
    }
    let phases = file.load.iter().flat_map(|load| &load.phases);
    let names: Vec<&str> = phases.map(|phase| phase.name.as_str()).collect();
    for name in expect.phase_lag_us_p99_max.keys() {
        if file.load.is_some() && !names.contains(&name.as_str()) {
            let message = format!("there is no such phase; there are {}", names.join(", "));
            problems.push(format!("expect.phase_lag_us_p99_max.{name}"), message);
        }
    }
    for (index, mutant) in file.mutants.iter().flatten().enumerate() {
        if !expect.checks.contains(&mutant.check) {
            let message = format!("{:?} is not among expect.checks", mutant.check);
            problems.push(format!("mutants[{index}].check"), message);
        }
    }
}

pub fn expect(section: &ExpectSection) -> Expect {
    Expect {
        checks: section.checks.clone(),
        sent_share_min: section.sent_share_min.get(),
        schedule_lag_us_p99_max: section.schedule_lag_us_p99_max.get().into(),
        phase_lag_us_p99_max: section
            .phase_lag_us_p99_max
            .iter()
            .map(|(phase, max)| (phase.clone(), max.get().into()))
            .collect(),
        converge_ms_max: section.converge_ms_max.get().into(),
        recover_ms_max: section.recover_ms_max.get().into(),
        sell_out: section.sell_out,
    }
}

pub fn mutant(section: MutantSection) -> Mutant {
    Mutant {
        name: section.name,
        check: section.check,
    }
}
