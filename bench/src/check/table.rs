//! The figures as Markdown.

use std::fmt::Write as _;

use super::Checks;

/// What a check of six million attempts may take on two cores.
const BAR_ATTEMPTS: f64 = 6e6;
const BAR_S: f64 = 10.0;

pub fn markdown(checks: &Checks) -> String {
    let machine = &checks.machine;
    let mut out = format!(
        "# Checking a saved run\n\n{}, {} cores, Linux {}. `flashdrill check` of two runs of the flagship that sell the \
         same units; medians of {} checks.\n\n| attempts | time, s | µs an attempt | peak memory, MiB |\n|---|---|---|---|\n",
        machine.cpu, machine.cores, machine.kernel, checks.settings.repeats
    );
    for one in &checks.histories {
        let took_s = one.median(|spent| spent.took_s);
        let us = took_s * 1e6 / one.attempts.max(1) as f64;
        let peak_mib = one.median(|spent| spent.peak_mib);
        let _ = writeln!(
            out,
            "| {} | {took_s:.2} | {us:.3} | {peak_mib:.0} |",
            one.attempts
        );
    }
    if let [small, large] = checks.histories.as_slice() {
        let ratio = |figure: fn(&super::Spent) -> f64| large.median(figure) / small.median(figure);
        let _ = writeln!(
            out,
            "\n{:.1} times the attempts: {:.1} times the time, {:.2} times the memory.",
            large.attempts as f64 / small.attempts.max(1) as f64,
            ratio(|spent| spent.took_s),
            ratio(|spent| spent.peak_mib)
        );
        let took_s =
            large.median(|spent| spent.took_s) * BAR_ATTEMPTS / large.attempts.max(1) as f64;
        let met = if took_s <= BAR_S { "met" } else { "MISSED" };
        let _ = writeln!(
            out,
            "bar: 6,000,000 attempts in {took_s:.1} s, at most {BAR_S:.0} s: {met}"
        );
    }
    out
}
