//! A result in about ten lines.

use super::gate::Gate;
use super::result::LoadResult;
use crate::figures::{count, percent, rate, us};
use crate::load::summary::{LoadSummary, Percentiles};

/// `not_held`: why the result is inconclusive.
pub fn of(
    result: &LoadResult,
    gates: &[(&Gate, (bool, String))],
    not_held: Option<&str>,
) -> String {
    let summary = &result.summary;
    let mut lines = vec![result.about.clone(), line("sent", &sent(summary))];
    for (name, times) in [
        ("lag", &summary.schedule_lag_us),
        ("service", &summary.service_us),
        ("response", &summary.response_us),
    ] {
        lines.push(line(name, &percentiles(times)));
    }
    lines.push(line("answers", &answers(summary)));
    lines.push(line("generator", &generator(summary)));
    lines.extend(
        summary
            .held_up_by
            .iter()
            .map(|cause| line("held up", cause)),
    );
    lines.extend(gates.iter().map(|(gate, (holds, value))| {
        let word = if *holds { "ok" } else { "FAIL" };
        line("slo", &format!("{gate}  {word} ({value})"))
    }));
    lines.extend(not_held.map(|why| line("INCONCLUSIVE", why)));
    lines.join("\n")
}

fn line(name: &str, text: &str) -> String {
    format!("  {name:<9} {text}")
}

fn sent(summary: &LoadSummary) -> String {
    format!(
        "{} of {} requests ({}), {}/s; {} late, {} dropped",
        count(summary.sent),
        count(summary.offered),
        percent(summary.sent_share),
        rate(summary.sent_per_s),
        count(summary.late),
        count(summary.dropped)
    )
}

fn percentiles(times: &Percentiles) -> String {
    format!(
        "p50 {}  p90 {}  p99 {}  p99.9 {}  max {}",
        us(times.p50),
        us(times.p90),
        us(times.p99),
        us(times.p999),
        us(times.max)
    )
}

fn answers(summary: &LoadSummary) -> String {
    let outcomes = summary.outcomes.iter();
    let outcomes = outcomes.map(|(name, number)| format!("{name} {}", count(*number)));
    let statuses = summary.statuses.iter();
    let statuses = statuses.map(|(status, number)| format!("HTTP {status}: {}", count(*number)));
    outcomes.chain(statuses).collect::<Vec<_>>().join(", ")
}

fn generator(summary: &LoadSummary) -> String {
    let strain = &summary.strain;
    let cost = match summary.sent {
        0 => String::new(),
        sent => format!(
            "{:.1} µs of CPU a request; ",
            summary.generator_cpu_ms as f64 * 1e3 / sent as f64
        ),
    };
    format!("{cost}{} stalls; {}", strain.stalls, summary.host)
}
