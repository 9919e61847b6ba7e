//! oha: closed loop, or paced with latencies corrected for the wait before the send. Requests differ only where
//! all their bodies are in a file.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::process::Command;

use serde::Deserialize;

use super::{CONNECTIONS, CONTENT_TYPE, Curve, Latency, Load, Pace, ReadError, Tool, program};

pub struct Oha;

impl Tool for Oha {
    fn name(&self) -> &'static str {
        "oha"
    }

    fn absent(&self) -> &'static str {
        "not installed: compose/install-bench.sh builds it"
    }

    fn version(&self, program: &Path) -> String {
        program::version_in(&program::printed(program, &["--version"]))
    }

    fn command(&self, program: &Path, load: &Load<'_>) -> io::Result<Option<Command>> {
        let Some(body) = load.requests.one_body() else {
            return Ok(None);
        };
        let mut command = Command::new(program);
        match load.pace {
            Pace::Closed => {}
            Pace::Paced { per_s } => {
                command.args(["-q", &per_s.to_string(), "--latency-correction"]);
            }
            Pace::Pipelined => return Ok(None),
        }
        // It has one core, so more threads would only hinder each other; and it must not throw away what is
        // unanswered at the end, which is the worst of it.
        command
            .args(["-z", &load.duration(), "-c", &CONNECTIONS.to_string(), "-w"])
            .args([
                "--worker-threads",
                "1",
                "--no-tui",
                "--output-format",
                "json",
            ])
            .args(["-m", "POST", "-T", CONTENT_TYPE, "-d", body, load.url]);
        Ok(Some(command))
    }

    fn latency(&self, _: &Path, _: &Load<'_>, printed: &str) -> Result<Latency, ReadError> {
        read(printed)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    /// `p99.9` to seconds; null where nothing was measured.
    latency_percentiles: BTreeMap<String, Option<f64>>,
}

fn read(printed: &str) -> Result<Latency, ReadError> {
    let report: Report = serde_json::from_str(printed)?;
    let point = |(name, seconds): (String, Option<f64>)| {
        let percent: f64 = name.strip_prefix('p')?.parse().ok()?;
        Some((percent / 100.0, seconds? * 1e6))
    };
    let points = report.latency_percentiles.into_iter().filter_map(point);
    Curve::new(points.collect())
        .latency()
        .ok_or(ReadError::Missing(
            "`latencyPercentiles` for p50, p99, p99.9",
        ))
}

#[cfg(test)]
mod tests {
    use super::super::Requests;
    use super::super::testing::arguments;
    use super::*;

    const PRINTED: &str = r#"{
  "summary": { "successRate": 1.0, "total": 2.008153866, "requestsPerSec": 34052.669547782556 },
  "latencyPercentiles": {
    "p10": 0.000505257, "p25": 0.000654125, "p50": 0.000829277, "p75": 0.002422964, "p90": 0.005432232,
    "p95": 0.007017639, "p99": 0.009153963, "p99.9": 0.012868977, "p99.99": 0.016573566
  },
  "errorDistribution": {}
}"#;

    #[test]
    fn seconds_become_microseconds() {
        let latency = read(PRINTED).unwrap();
        let figures = [latency.p50_us, latency.p99_us, latency.p999_us];
        assert_eq!(figures.map(|us| us.round() as u64), [829, 9154, 12869]);
    }

    #[test]
    fn a_run_without_answers_is_no_figure() {
        let nothing = r#"{"latencyPercentiles": {"p50": null, "p99": null, "p99.9": null}}"#;
        assert!(matches!(read(nothing), Err(ReadError::Missing(_))));
        assert!(matches!(read("{}"), Err(ReadError::Json(_))));
    }

    #[test]
    fn latencies_are_corrected_when_paced() {
        let paced = arguments(&Oha, Pace::Paced { per_s: 5000 }, Requests::Same).unwrap();
        assert!(paced.starts_with("-q 5000 --latency-correction -z 5000ms -c 64 -w "));
        assert!(
            arguments(&Oha, Pace::Closed, Requests::Same)
                .unwrap()
                .starts_with("-z 5000ms")
        );
        assert_eq!(arguments(&Oha, Pace::Pipelined, Requests::Same), None);
    }
}
