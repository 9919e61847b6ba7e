//! Flashdrill's own load command, known by its command line and its files, as the others are.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use serde::Deserialize;

use super::{
    BODY, CONNECTIONS, CONTENT_TYPE, Curve, Latency, Load, Pace, ReadError, Requests, TEMPLATE,
    Tool, program,
};

const SUMMARY: &str = "flashdrill.json";
const LOG: &str = "flashdrill.hlog";
/// It says so of a schedule that it could not hold; whether it did is for the server to tell.
const INCONCLUSIVE: i32 = 2;

pub struct Flashdrill;

impl Tool for Flashdrill {
    fn name(&self) -> &'static str {
        "flashdrill"
    }

    fn program(&self) -> Option<PathBuf> {
        program::beside_us(self.name())
    }

    fn absent(&self) -> &'static str {
        "not built: `make build`"
    }

    fn version(&self, program: &Path) -> String {
        program::version_in(&program::printed(program, &["--version"]))
    }

    fn command(&self, program: &Path, load: &Load<'_>) -> io::Result<Option<Command>> {
        let mut command = Command::new(program);
        command.args(["load", load.url]);
        match load.pace {
            Pace::Closed | Pace::Pipelined => command.arg("--closed"),
            Pace::Paced { per_s } => command.args(["--rate", &per_s.to_string()]),
        };
        command
            .args(["--duration", &load.duration()])
            .args(["--connections", &CONNECTIONS.to_string()])
            .args(["--depth", &load.pace.depth().to_string()])
            .args(["--method", "POST"])
            .args(["--header", &format!("Content-Type: {CONTENT_TYPE}")])
            .arg("--json")
            .arg(load.scratch.join(SUMMARY))
            .arg("--hdr")
            .arg(load.scratch.join(LOG));
        match load.requests {
            Requests::Same => command.args(["--body", BODY]),
            // Users are drawn: from so many that hardly one comes twice.
            Requests::Own => command.args(["--body", TEMPLATE, "--users", "1000000000000"]),
        };
        Ok(Some(command))
    }

    fn is_done(&self, status: ExitStatus) -> bool {
        matches!(status.code(), Some(0 | INCONCLUSIVE))
    }

    fn latency(&self, _: &Path, load: &Load<'_>, _: &str) -> Result<Latency, ReadError> {
        let summary = load.scratch.join(SUMMARY);
        let text = std::fs::read_to_string(&summary).map_err(|error| ReadError::File {
            path: summary,
            reason: error.to_string(),
        })?;
        let log = load.scratch.join(LOG);
        let curve = curve(&log).map_err(|reason| ReadError::File { path: log, reason })?;
        read(&text, curve)
    }
}

#[derive(Deserialize)]
struct Summary {
    response_us: Percentiles,
}

#[derive(Deserialize)]
struct Percentiles {
    p50: f64,
    p99: f64,
    p999: f64,
}

/// The summary has the figures; the log, which is coarser, the curve between them.
fn read(summary: &str, curve: Curve) -> Result<Latency, ReadError> {
    let Percentiles { p50, p99, p999 } = serde_json::from_str::<Summary>(summary)?.response_us;
    Ok(Latency {
        p50_us: p50,
        p99_us: p99,
        p999_us: p999,
        curve,
    })
}

/// Ten minutes in microseconds, longer than any run.
const MAX_US: u64 = 600_000_000;

fn curve(log: &Path) -> Result<Curve, String> {
    let text = std::fs::read(log).map_err(|error| error.to_string())?;
    let steps = merged(&text)?;
    let points = steps
        .iter_quantiles(10)
        .map(|step| (step.quantile_iterated_to(), step.value_iterated_to() as f64));
    Ok(Curve::new(points.collect()))
}

/// The seconds of an interval log in one histogram.
fn merged(log: &[u8]) -> Result<Histogram<u64>, String> {
    let mut sum = Histogram::new_with_bounds(1, MAX_US, 3).map_err(|error| error.to_string())?;
    let mut deserializer = Deserializer::new();
    for entry in IntervalLogIterator::new(log) {
        let LogEntry::Interval(second) = entry.map_err(|error| format!("{error:?}"))? else {
            continue;
        };
        let bytes = STANDARD
            .decode(second.encoded_histogram())
            .map_err(|error| error.to_string())?;
        let histogram: Histogram<u64> = deserializer
            .deserialize(&mut &bytes[..])
            .map_err(|error| error.to_string())?;
        sum.add(histogram).map_err(|error| error.to_string())?;
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use hdrhistogram::serialization::V2Serializer;
    use hdrhistogram::serialization::interval_log::IntervalLogWriterBuilder;

    use super::super::testing::arguments;
    use super::*;

    const SUMMARY_TEXT: &str = r#"{"offered":25000,"sent":25000,"response_us":
        {"p50":142,"p90":175551,"p99":459007,"p999":500991,"max":505343},"service_us":{"p50":90}}"#;

    #[test]
    fn the_summary_s_figures() {
        let latency = read(SUMMARY_TEXT, Curve::default()).unwrap();
        let figures = [latency.p50_us, latency.p99_us, latency.p999_us];
        assert_eq!(figures.map(|us| us as u64), [142, 459_007, 500_991]);
        assert!(matches!(
            read("{}", Curve::default()),
            Err(ReadError::Json(_))
        ));
    }

    #[test]
    fn the_seconds_of_the_log_are_merged() {
        let mut log = Vec::new();
        let mut serializer = V2Serializer::new();
        let mut writer = IntervalLogWriterBuilder::new()
            .begin_log_with(&mut log, &mut serializer)
            .unwrap();
        for second in 0..2 {
            let mut histogram = Histogram::<u32>::new_with_bounds(1, MAX_US, 2).unwrap();
            histogram.record_n(100 + 900 * second, 50).unwrap();
            let at = Duration::from_secs(second);
            writer
                .write_histogram(&histogram, at, Duration::from_secs(1), None)
                .unwrap();
        }
        let sum = merged(&log).unwrap();
        assert_eq!((sum.len(), sum.value_at_quantile(0.5)), (100, 100));
        assert!(sum.max().abs_diff(1000) < 10);
        assert!(merged(b"no log").is_err());
    }

    #[test]
    fn every_pace() {
        let paced = arguments(&Flashdrill, Pace::Paced { per_s: 5000 }, Requests::Same).unwrap();
        assert!(paced.contains("/buy --rate 5000 --duration 5000ms --connections 64 --depth 1 "));
        let pipelined = arguments(&Flashdrill, Pace::Pipelined, Requests::Same).unwrap();
        assert!(pipelined.contains("--closed") && pipelined.contains("--depth 16"));
    }

    #[test]
    fn each_user_s_own_request_comes_from_a_template() {
        let own = arguments(&Flashdrill, Pace::Closed, Requests::Own).unwrap();
        assert!(
            own.contains("--body sku=7&user={user}&quantity=1&request_id={request_id} --users")
        );
        let same = arguments(&Flashdrill, Pace::Closed, Requests::Same).unwrap();
        assert!(same.ends_with(BODY), "{same}");
    }
}
