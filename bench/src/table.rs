//! The figures as Markdown, for the terminal and `table.md` alike.

use std::fmt::Write as _;

use crate::bars::Bar;
use crate::request::{CONNECTIONS, DEPTH, Requests};
use crate::result::{Comparison, Cost, Figure, Installed, Said, ToolFigures, Work};
use crate::truth::Basis;

const NOTHING: &str = "-";
/// What the columns are, above them.
const COLUMNS: &str = "\
Same: all requests have the same bytes. Own: each has its own user and request id, in as many bytes; flashdrill fills
a template, wrk calls a script, and the other tools are not asked to (`-`). A sale's load needs own requests, so the
bars against wrk are judged on these; the other bars, on same ones at depth 1.";

pub fn markdown(comparison: &Comparison, bars: &[Bar]) -> String {
    let mut out = format!(
        "# Load generators side by side\n\n{}\n",
        circumstances(comparison)
    );
    let _ = writeln!(
        out,
        "\n## CPU per request\n\n{COLUMNS}\n\n{}",
        costs(comparison)
    );
    let _ = writeln!(out, "\n## Truth\n\n{}", truths(comparison));
    let _ = writeln!(out, "\n## Bars\n\n```");
    for bar in bars {
        let _ = writeln!(out, "{bar}");
    }
    out + "```\n"
}

fn circumstances(comparison: &Comparison) -> String {
    let (machine, settings) = (&comparison.machine, &comparison.settings);
    let pins = machine.pins.map_or_else(
        || "nothing pinned: one core".to_owned(),
        |pins| format!("server on core {}, tool on core {}", pins.server, pins.tool),
    );
    format!(
        "{}, {} cores, Linux {}; {pins}. One server, one request, {CONNECTIONS} connections. Costs: user and system\n\
         time of the tool's processes by the requests that the server answered, median of {} runs of {} s in\n\
         turns (least to most in brackets). A lone request on the idle server takes {:.0} µs.",
        machine.cpu,
        machine.cores,
        machine.kernel,
        settings.repeats,
        settings.cost_ms as f64 / 1e3,
        comparison.round_trip_us,
    )
}

fn costs(comparison: &Comparison) -> String {
    let paced = comparison.settings.paced_per_s;
    let head = [
        "tool".to_owned(),
        "version".to_owned(),
        "closed, same, µs".to_owned(),
        "× wrk".to_owned(),
        "answered/s".to_owned(),
        "closed, own, µs".to_owned(),
        "× wrk".to_owned(),
        format!("paced at {paced}/s, µs"),
        "× flashdrill".to_owned(),
        format!("{DEPTH} deep, same, µs"),
        "× wrk".to_owned(),
        format!("{DEPTH} deep, own, µs"),
        "× wrk".to_owned(),
        "highest rate held/s".to_owned(),
    ];
    let rows = comparison.tools.iter().map(|tool| {
        let ratio = |whole, work| times(comparison.ratio(tool.name, whole, work));
        [
            tool.name.to_owned(),
            version(tool),
            cpu(tool.cost(Work::Closed(Requests::Same))),
            ratio("wrk", Work::Closed(Requests::Same)),
            tool.closed
                .same
                .as_ref()
                .map_or(NOTHING.to_owned(), |cost| {
                    format!("{:.0}", cost.answered_per_s)
                }),
            cpu(tool.cost(Work::Closed(Requests::Own))),
            ratio("wrk", Work::Closed(Requests::Own)),
            cpu(tool.cost(Work::Paced)),
            ratio("flashdrill", Work::Paced),
            cpu(tool.cost(Work::Pipelined(Requests::Same))),
            ratio("wrk", Work::Pipelined(Requests::Same)),
            cpu(tool.cost(Work::Pipelined(Requests::Own))),
            ratio("wrk", Work::Pipelined(Requests::Own)),
            highest(comparison, tool),
        ]
    });
    table(&head, rows)
}

fn truths(comparison: &Comparison) -> String {
    let (freezes, schedule) = (&comparison.settings.freezes, &comparison.settings.truth);
    let head = [
        "tool",
        "load",
        "p50 said / true",
        "error",
        "p99 said / true",
        "error",
        "p99.9 said / true",
        "error",
        "model ÷ answers",
    ];
    let rows = comparison.tools.iter().filter_map(|tool| {
        let said = tool.truth.as_ref()?;
        let [p50, p99, p999] =
            [said.p50, said.p99, said.p999].map(|figure| (pair(figure), error(figure)));
        let model = said.model_by_answers_p99;
        Some([
            tool.name.to_owned(),
            load(said).to_owned(),
            p50.0,
            p50.1,
            p99.0,
            p99.1,
            p999.0,
            p999.1,
            model.map_or(NOTHING.to_owned(), |ratio| format!("{ratio:.3}")),
        ])
    });
    format!(
        "A user comes every 1/{} s for {} s; the server freezes for {} s, first after {} s, then every {} s. True is\n\
         the time from a user's place in the schedule to the server's answer: from the stamps of the answers where\n\
         the tool kept the schedule, else from a model of a queue before the same freezes (see `bench/src/truth.rs`).\n\
         The last column says how far the model's p99 is from the stamps'. Curves: `truth.svg`.\n\n{}",
        schedule.per_s,
        schedule.duration_ms as f64 / 1e3,
        freezes.length_ms as f64 / 1e3,
        freezes.first_ms as f64 / 1e3,
        freezes.every_ms as f64 / 1e3,
        table(&head.map(str::to_owned), rows)
    )
}

fn version(tool: &ToolFigures) -> String {
    match &tool.installed {
        Installed::Version(version) => version.clone(),
        Installed::Absent(why) => (*why).to_owned(),
    }
}

fn cpu(cost: Option<&Cost>) -> String {
    let Some(cost) = cost else {
        return NOTHING.to_owned();
    };
    let median = cost.cpu_us_per_request;
    let least = cost.repeats.iter().copied().fold(median, f64::min);
    let most = cost.repeats.iter().copied().fold(median, f64::max);
    format!("{median:.2} ({least:.2} to {most:.2})")
}

fn times(ratio: Option<f64>) -> String {
    ratio.map_or(NOTHING.to_owned(), |ratio| format!("{ratio:.2}"))
}

fn highest(comparison: &Comparison, tool: &ToolFigures) -> String {
    let Some(highest) = &tool.highest else {
        return NOTHING.to_owned();
    };
    let ladder = comparison.settings.ladder_per_s;
    match highest.held_per_s {
        Some(per_s) if Some(&per_s) == ladder.last() => format!("{per_s} or more"),
        Some(per_s) => per_s.to_string(),
        None => format!("below {}", ladder.first().copied().unwrap_or(0)),
    }
}

fn load(said: &Said) -> &'static str {
    match said.basis {
        Basis::Answers => "on schedule",
        Basis::Model => "left arrivals out",
    }
}

/// A tool that recorded nothing says 0.
fn pair(figure: Figure) -> String {
    if figure.said_us > 0.0 {
        format!("{} / {}", ms(figure.said_us), ms(figure.true_us))
    } else {
        format!("nothing / {}", ms(figure.true_us))
    }
}

/// Short waits need their decimals.
fn ms(us: f64) -> String {
    if us < 10_000.0 {
        format!("{:.2} ms", us / 1e3)
    } else {
        format!("{:.0} ms", us / 1e3)
    }
}

fn error(figure: Figure) -> String {
    format!("{:+.1} %", figure.error() * 100.0)
}

/// Columns as wide as their widest cell, so that it reads well in a terminal.
fn table<const N: usize>(head: &[String; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let rows: Vec<[String; N]> = rows.collect();
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.max().unwrap_or(0).max(head[column].chars().count())
    };
    let widths: Vec<usize> = (0..N).map(width).collect();
    let line = |cells: &[String; N]| {
        let padded = cells.iter().zip(&widths);
        let padded = padded.map(|(cell, width)| format!(" {cell:<width$} |", width = *width));
        format!("|{}", padded.collect::<String>())
    };
    let rule: String = widths
        .iter()
        .map(|width| format!("{}|", "-".repeat(width + 2)))
        .collect();
    let lines = [line(head), format!("|{rule}")].into_iter();
    lines
        .chain(rows.iter().map(line))
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::testing::{comparison, said, set};

    #[test]
    fn absolute_figures_stand_beside_ratios() {
        let mut comparison = comparison(&[4.0, 5.0, 10.0], &[]);
        let deep_own = Work::Pipelined(Requests::Own);
        set(
            &mut comparison,
            Work::Closed(Requests::Own),
            &[("flashdrill", 4.5), ("wrk", 6.0)],
        );
        set(
            &mut comparison,
            deep_own,
            &[("flashdrill", 1.0), ("wrk", 4.0)],
        );
        let costs = costs(&comparison);
        let row = |name: &str| {
            let line = costs
                .lines()
                .find(|line| line.starts_with(&format!("| {name} ")));
            line.unwrap()
                .split('|')
                .map(|cell| cell.trim().to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            row("flashdrill")[2..6],
            ["1.2", "4.00 (4.00 to 5.00)", "0.80", "50000"]
        );
        assert_eq!(row("flashdrill")[6..8], ["4.50 (4.50 to 5.50)", "0.75"]);
        assert_eq!(
            row("flashdrill")[10..14],
            ["-", "-", "1.00 (1.00 to 2.00)", "0.25"]
        );
        assert_eq!(row("oha")[3..5], ["10.00 (10.00 to 11.00)", "2.00"]);
        assert_eq!(row("oha")[6..8], ["-", "-"]);
        assert_eq!(row("k6")[2..5], ["not available here", "-", "-"]);
        let widths: Vec<_> = costs.lines().map(|line| line.chars().count()).collect();
        assert!(widths.iter().all(|width| *width == widths[0]), "{costs}");
    }

    #[test]
    fn what_was_said_stands_beside_what_was_true() {
        let figures = [
            ("flashdrill", said(Basis::Answers, 905_000.0, 900_000.0)),
            ("wrk", said(Basis::Model, 1_200.0, 900_000.0)),
        ];
        let truths = truths(&comparison(&[4.0, 5.0], &figures));
        let silent = Figure {
            said_us: 0.0,
            true_us: 900_000.0,
        };
        assert_eq!(pair(silent), "nothing / 900 ms");
        assert!(
            truths.contains("| 905 ms / 900 ms  | +0.6 %  |"),
            "{truths}"
        );
        assert!(
            truths.contains("| left arrivals out | 1.20 ms / 900 ms | -99.9 % |"),
            "{truths}"
        );
        assert!(!truths.contains("oha"), "a tool without figures has no row");
    }

    #[test]
    fn the_page_holds_everything() {
        let comparison = comparison(&[4.0, 5.0, 10.0], &[]);
        let page = markdown(&comparison, &crate::bars::bars(&comparison));
        for part in [
            "Some CPU, 2 cores",
            "server on core 0, tool on core 1",
            "each has its own user",
            "## Truth",
            "OK    CPU per request",
        ] {
            assert!(page.contains(part), "{part} in {page}");
        }
    }
}
