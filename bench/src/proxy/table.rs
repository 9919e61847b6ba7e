//! The figures as Markdown.

use std::fmt::Write as _;

use super::{ProxyComparison, Way, WayFigures};

const NOTHING: &str = "-";

pub fn markdown(comparison: &ProxyComparison) -> String {
    let (machine, settings) = (&comparison.machine, &comparison.settings);
    let mut out = format!(
        "# Fault proxies side by side\n\n\
         {}, {} cores, Linux {}. {} pipelined SET requests/s over {} connections at one Redis, without a toxic;\n\
         {} runs of {} s by each way, in turns. CPU: user and system time of the proxy by answer. Latency: from the\n\
         intended time of a request to its answer. Medians of the runs.\n\n\
         | way | version | CPU per request, µs | p50, µs | p99, µs | added p99, µs |\n\
         |---|---|---|---|---|---|\n",
        machine.cpu,
        machine.cores,
        machine.kernel,
        settings.load.per_s,
        settings.load.connections,
        settings.repeats,
        settings.load.duration_ms as f64 / 1e3,
    );
    for (way, figures) in Way::ALL
        .iter()
        .filter_map(|way| Some((*way, comparison.way(*way)?)))
    {
        let _ = writeln!(out, "{}", row(comparison, way, figures));
    }
    let _ = write!(out, "\n```\n{}\n```\n", bar(comparison));
    out
}

fn row(comparison: &ProxyComparison, way: Way, figures: &WayFigures) -> String {
    let version = figures.version.as_deref().unwrap_or("not installed");
    format!(
        "| {} | {version} | {} | {} | {} | {} |",
        way.name(),
        number(comparison.cpu_us(way), 2),
        number(figures.median(|run| Some(run.p50_us)), 0),
        number(figures.median(|run| Some(run.p99_us)), 0),
        number(comparison.added_p99_us(way), 0),
    )
}

fn number(value: Option<f64>, decimals: usize) -> String {
    value.map_or(NOTHING.to_owned(), |value| format!("{value:.decimals$}"))
}

/// A miss is told, not failed: times move.
fn bar(comparison: &ProxyComparison) -> String {
    let ratio = comparison.ratio();
    let word = match ratio {
        Some(ratio) if ratio < 1.0 => "OK  ",
        Some(_) => "MISS",
        None => "-   ",
    };
    let measured = ratio.map_or("not measured".to_owned(), |ratio| format!("{ratio:.2}"));
    format!("{word}  CPU per request < 1 of Toxiproxy: {measured}")
}
