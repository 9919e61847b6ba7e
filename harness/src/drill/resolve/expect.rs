//! What must hold, and what must be caught.

use crate::check::CheckId;
use crate::drill::file::{
    AlertSection, DrillFile, ExpectSection, LevelSection, MutantSection, ServiceLevelsSection,
};
use crate::drill::plan::{Expect, ExpectedAlert, LevelBounds, Mutant, ServiceLevels};
use crate::drill::problems::Problems;
use crate::drill::range::Share;
use crate::target::Target;

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
    let levels = expect.service_levels.iter();
    let mut bounds = levels.flat_map(|one| [&one.before, &one.during, &one.after]);
    if expect.checks.contains(&CheckId::Q1) && bounds.all(Option::is_none) {
        problems.push(
            "expect.service_levels",
            "Q1 is among expect.checks; say what is demanded in before, during or after",
        );
    }
    if expect.checks.contains(&CheckId::B1) && expect.backlog_max.is_none() {
        problems.push(
            "expect.backlog_max",
            "B1 is among expect.checks; say how many messages may wait",
        );
    }
    check_alerts(file, expect, problems);
    for (index, mutant) in file.mutants.iter().flatten().enumerate() {
        if !expect.checks.contains(&mutant.check) {
            let message = format!("{:?} is not among expect.checks", mutant.check);
            problems.push(format!("mutants[{index}].check"), message);
        }
    }
}

fn check_alerts(file: &DrillFile, expect: &ExpectSection, problems: &mut Problems) {
    if !expect.alerts.is_empty() && !expect.checks.contains(&CheckId::A1) {
        problems.push(
            "expect.checks",
            "A1 is missing, which alone asks for expect.alerts",
        );
    }
    let faults = || file.faults.iter().flatten().map(|one| &one.fault);
    for (index, alert) in expect.alerts.iter().enumerate() {
        if let Some(kind) = alert.fault
            && !faults().any(|fault| fault.kind() == kind.as_str())
        {
            problems.push(
                format!("expect.alerts[{index}].fault"),
                format!("the drill has no fault of kind {kind}"),
            );
        }
    }
}

/// A target that sends no alerts is not asked for them.
pub fn expect(section: &ExpectSection, target: &Target) -> Expect {
    let is_asked = |check: &&CheckId| **check != CheckId::A1 || target.alerts.is_some();
    Expect {
        checks: section.checks.iter().filter(is_asked).copied().collect(),
        sent_share_min: section.sent_share_min.get(),
        schedule_lag_us_p99_max: section.schedule_lag_us_p99_max.get().into(),
        phase_lag_us_p99_max: section
            .phase_lag_us_p99_max
            .iter()
            .map(|(phase, max)| (phase.clone(), max.get().into()))
            .collect(),
        converge_ms_max: section.converge_ms_max.get().into(),
        recover_ms_max: section.recover_ms_max.get().into(),
        backlog_max: section.backlog_max.map(|max| max.get().into()),
        store_calls_per_refusal_max: section.store_calls_per_refusal_max.get(),
        alerts: section.alerts.iter().map(alert).collect(),
        service_levels: section
            .service_levels
            .as_ref()
            .map_or_else(ServiceLevels::default, service_levels),
        sell_out: section.sell_out,
    }
}

fn alert(section: &AlertSection) -> ExpectedAlert {
    ExpectedAlert {
        name: section.name.clone(),
        fault: section.fault.map(|kind| kind.as_str().to_owned()),
        within_ms: section.within_ms.get().into(),
        at_least: section.at_least,
    }
}

fn service_levels(section: &ServiceLevelsSection) -> ServiceLevels {
    let bounds = |level: &LevelSection| LevelBounds {
        response_us_p99_max: level.response_us_p99_max.map(|max| max.get().into()),
        served_share_min: level.served_share_min.map(Share::get),
    };
    ServiceLevels {
        before: section.before.as_ref().map(bounds),
        during: section.during.as_ref().map(bounds),
        after: section.after.as_ref().map(bounds),
        after_drop_max: section.after_drop_max.get(),
        after_p99_factor_max: section.after_p99_factor_max.get(),
    }
}

pub fn mutant(section: MutantSection) -> Mutant {
    Mutant {
        name: section.name,
        check: section.check,
    }
}
