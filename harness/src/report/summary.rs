//! The run in about ten lines, for the terminal.

use std::path::Path;

use super::{ReportInput, word};
use crate::check::{Level, Loss, Verdict};
use crate::faults::FaultEvent;
use crate::figures::{count, ms, percent, rate, us, words};
use crate::journeys::JourneySummary;
use crate::load::summary::LoadSummary;

/// About ten lines of plain text; `run_dir` is where the evidence is.
pub fn summary(input: &ReportInput<'_>, run_dir: &Path) -> String {
    let plan = &input.evidence.plan;
    let mutant = input
        .mutant
        .map(|name| format!(", mutant {name}"))
        .unwrap_or_default();
    let mut lines = vec![format!(
        "{}  {}  (seed {}{mutant})",
        word(input.judgement.verdict).to_uppercase(),
        plan.drill,
        plan.seed
    )];
    lines.push(line("sale", &sale(input)));
    lines.push(line("buyers", &buyers(input)));
    lines.push(line("load", &load(input)));
    let fitted = plan.load.fitted.iter();
    lines.extend(fitted.map(|fitted| line("fitted", &fitted.to_string())));
    let journeys = input.evidence.journeys.as_ref();
    lines.extend(journeys.map(|one| line("journeys", &self::journeys(one))));
    lines.extend(
        input
            .evidence
            .faults
            .iter()
            .map(|event| line("fault", &fault(event))),
    );
    let top_ups = input.evidence.top_ups.iter();
    lines.extend(top_ups.map(|one| line("top-up", &one.news())));
    lines.push(line("recovery", &recovery(input)));
    if !input.evidence.faults.is_empty() {
        lines.push(line("levels", &levels(&input.judgement.levels)));
    }
    lines.push(line("losses", &losses(&input.judgement.losses)));
    lines.push(line("checks", &checks(input)));
    lines.extend(
        input
            .judgement
            .reasons
            .iter()
            .map(|reason| line("why", reason)),
    );
    lines.push(line(
        "report",
        &run_dir.join("report.html").display().to_string(),
    ));
    lines.join("\n")
}

fn line(name: &str, text: &str) -> String {
    format!("  {name:<9} {text}")
}

fn sale(input: &ReportInput<'_>) -> String {
    let tally = &input.judgement.tally;
    format!(
        "{} of {} units sold{}; {} purchases accepted, {} given back, {} broken promises, {} lost",
        count(tally.sold_units),
        count(tally.stock_units),
        last_call(input),
        count(tally.accepted),
        count(tally.cancelled + tally.expired),
        count(tally.broken_promises),
        count(tally.lost)
    )
}

/// How much of it was sold after the load, if a last call was made.
fn last_call(input: &ReportInput<'_>) -> String {
    let Some(_) = input.evidence.last_call else {
        return String::new();
    };
    let units = count(input.judgement.tally.last_call_units);
    format!(" ({units} of them at the last call, after the load)")
}

fn buyers(input: &ReportInput<'_>) -> String {
    let tally = &input.judgement.tally;
    let redelivered = tally
        .redelivered
        .map(|number| format!("; {} redelivered messages", count(number)));
    format!(
        "{} attempts, {} refused, {} of unknown outcome ({} were applied){}",
        count(tally.buy_attempts),
        count(tally.refused_attempts),
        count(tally.unknown_attempts),
        count(tally.unknown_applied),
        redelivered.unwrap_or_default()
    )
}

fn load(input: &ReportInput<'_>) -> String {
    let load = &input.evidence.load;
    format!(
        "{}/s offered, {} sent, lag p99 {}, response p50 {} p99 {}",
        rate(load.offered_per_s),
        percent(load.sent_share),
        lag(load),
        us(load.response_us.p50),
        us(load.response_us.p99)
    )
}

/// Of each phase where there are several: the opening of a sale is another matter than what follows.
fn lag(load: &LoadSummary) -> String {
    match load.phases.as_slice() {
        [] | [_] => us(load.schedule_lag_us.p99),
        phases => phases
            .iter()
            .map(|phase| format!("{} ({})", us(phase.schedule_lag_us.p99), phase.name))
            .collect::<Vec<_>>()
            .join(", "),
    }
}

/// Ends that nobody came to are left out.
fn journeys(journeys: &JourneySummary) -> String {
    let ends = journeys.ends.iter();
    let ends: Vec<String> = ends
        .map(|(end, number)| format!("{} {}", count(*number), words(end.name())))
        .collect();
    format!(
        "{} buyers: {} whole journeys, p50 {} p99 {}; {}",
        count(journeys.buyers),
        count(journeys.whole()),
        us(journeys.whole_us.p50),
        us(journeys.whole_us.p99),
        ends.join(", ")
    )
}

fn fault(event: &FaultEvent) -> String {
    let healed = match event.healed_at_ms {
        Some(at) => format!(", healed at {}", ms(at)),
        None if event.heals => ", NOT HEALED".to_owned(),
        None => String::new(),
    };
    let receipt = event
        .receipt
        .as_deref()
        .unwrap_or("no evidence that it bit");
    format!(
        "{} at {}{healed}: {receipt}",
        event.kind,
        ms(event.injected_at_ms)
    )
}

/// How buyers were served before, during and after the faults.
fn losses(losses: &[Loss]) -> String {
    let one = |loss: &Loss| {
        let [seen, allowed] = [loss.seen, loss.allowed].map(count);
        format!("{} {seen} of at most {allowed}", loss.layer.name())
    };
    losses.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn levels(levels: &[Level]) -> String {
    let one = |level: &Level| {
        let (served, p99) = (percent(level.served_share), us(level.response_us_p99));
        format!("{} {served} served, p99 {p99}", level.spell.name())
    };
    levels.iter().map(one).collect::<Vec<_>>().join("; ")
}

fn recovery(input: &ReportInput<'_>) -> String {
    let felt = match input.judgement.recovery_ms {
        Some(took) => format!("{} after the fault; ", ms(took)),
        None if input.evidence.faults.is_empty() => String::new(),
        None => "not before the load ended; ".to_owned(),
    };
    let rest = match input.evidence.stores.converged_ms {
        Some(took) => format!("stores agreed {} after load and faults", ms(took)),
        None => "stores never agreed".to_owned(),
    };
    format!("{felt}{rest}")
}

fn checks(input: &ReportInput<'_>) -> String {
    let one = |verdict: Verdict| match verdict {
        Verdict::Pass => "ok",
        Verdict::Fail => "FAIL",
        Verdict::Inconclusive => "?",
    };
    let all = input.judgement.checks.iter();
    all.map(|check| format!("{:?} {}", check.id, one(check.verdict)))
        .collect::<Vec<_>>()
        .join("  ")
}
