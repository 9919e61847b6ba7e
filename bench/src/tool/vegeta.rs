//! vegeta: paced, with as many workers and connections as wait; or closed, with a fixed number of workers.
//! It measures from the moment a worker sends. Requests differ only where another program writes each of them.

use std::io;
use std::path::Path;
use std::process::Command;

use serde::Deserialize;

use super::{CONNECTIONS, CONTENT_TYPE, Curve, Latency, Load, Pace, ReadError, Tool, program};

const RESULTS: &str = "vegeta.bin";

pub struct Vegeta;

impl Tool for Vegeta {
    fn name(&self) -> &'static str {
        "vegeta"
    }

    fn absent(&self) -> &'static str {
        "not installed: compose/install-bench.sh builds it where Go is"
    }

    /// Built by `go install` it does not know its own version, but Go does.
    fn version(&self, program: &Path) -> String {
        let path = program.to_string_lossy();
        let modules = program::printed(Path::new("go"), &["version", "-m", &path]);
        let own = modules.lines().find(|line| line.starts_with("\tmod\t"));
        program::version_in(own.unwrap_or_default())
    }

    fn command(&self, program: &Path, load: &Load<'_>) -> io::Result<Option<Command>> {
        let Some(body) = load.requests.one_body() else {
            return Ok(None);
        };
        let workers = CONNECTIONS.to_string();
        let mut command = Command::new(program);
        command.arg("attack");
        match load.pace {
            Pace::Closed => {
                command.args(["-rate", "0", "-workers", &workers, "-max-workers", &workers])
            }
            Pace::Paced { per_s } => {
                command.args(["-rate", &format!("{per_s}/1s"), "-workers", &workers])
            }
            Pace::Pipelined => return Ok(None),
        };
        let body = load.file("vegeta.body", body)?;
        let target = format!(
            "POST {}\nContent-Type: {CONTENT_TYPE}\n@{}\n",
            load.url,
            body.display()
        );
        command
            .args(["-duration", &load.duration(), "-targets"])
            .arg(load.file("vegeta.targets", &target)?)
            .arg("-output")
            .arg(load.scratch.join(RESULTS));
        Ok(Some(command))
    }

    fn latency(&self, program: &Path, load: &Load<'_>, _: &str) -> Result<Latency, ReadError> {
        let results = load.scratch.join(RESULTS);
        let report = |kind| {
            let path = results.to_string_lossy();
            program::printed(program, &["report", "-type", kind, &path])
        };
        read(&report("json"), &report("hdrplot"))
    }
}

#[derive(Deserialize)]
struct Report {
    latencies: Latencies,
}

/// Nanoseconds.
#[derive(Deserialize)]
struct Latencies {
    #[serde(rename = "50th")]
    p50_ns: f64,
    #[serde(rename = "99th")]
    p99_ns: f64,
}

/// The report names p50 and p99; p99.9 is in the plot only.
fn read(json: &str, plot: &str) -> Result<Latency, ReadError> {
    let report: Report = serde_json::from_str(json)?;
    let curve = Curve::new(plot.lines().filter_map(point).collect());
    Ok(Latency {
        p50_us: report.latencies.p50_ns / 1e3,
        p99_us: report.latencies.p99_ns / 1e3,
        p999_us: curve.us_at(0.999).ok_or(ReadError::Missing("p99.9"))?,
        curve,
    })
}

/// A line of the plot: milliseconds, share, count, `1/(1-share)`.
fn point(line: &str) -> Option<(f64, f64)> {
    let mut words = line.split_whitespace();
    let ms: f64 = words.next()?.parse().ok()?;
    let share = words.next()?.parse().ok()?;
    Some((share, ms * 1e3))
}

#[cfg(test)]
mod tests {
    use super::super::Requests;
    use super::super::testing::arguments;
    use super::*;

    const JSON: &str = r#"{"latencies":{"total":936322557311,"mean":37452902,"50th":365871,"90th":175540998,
        "95th":322378231,"99th":460259961,"max":505239850,"min":34427},"requests":25000,"success":1}"#;
    const PLOT: &str = "\
Value(ms)   Percentile  TotalCount  1/(1-Percentile)
0.034427    0.000000    0           1.000000
0.365871    0.500000    12500       2.000000
456.644592  0.989062    24727       91.424392
463.401890  0.990625    24766       106.666667
500.120125  0.998828    24971       853.242321
500.876061  0.999023    24976       1023.541453
505.239850  1.000000    25000       10000000.000000
";

    #[test]
    fn report_and_plot_together() {
        let latency = read(JSON, PLOT).unwrap();
        let figures = [latency.p50_us, latency.p99_us, latency.p999_us];
        assert_eq!(figures.map(|us| us.round() as u64), [366, 460_260, 500_787]);
        assert_eq!(latency.curve.points().len(), 7);
        assert!(matches!(
            read("vegeta: no results", PLOT),
            Err(ReadError::Json(_))
        ));
        assert!(matches!(read(JSON, ""), Err(ReadError::Missing(_))));
    }

    #[test]
    fn closed_means_a_fixed_number_of_workers() {
        let closed = arguments(&Vegeta, Pace::Closed, Requests::Same).unwrap();
        assert!(closed.starts_with("attack -rate 0 -workers 64 -max-workers 64 -duration 5000ms"));
        let paced = arguments(&Vegeta, Pace::Paced { per_s: 5000 }, Requests::Same).unwrap();
        assert!(paced.starts_with("attack -rate 5000/1s -workers 64 -duration"));
    }
}
