//! The load second by second, by the intended start: an outage shows in the seconds it spoiled, not
//! in those in which its late answers came.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Duration;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::V2Serializer;
use hdrhistogram::serialization::interval_log::IntervalLogWriterBuilder;

use super::LoadError;
use super::latency;
use super::summary::Interval;

const NS_PER_S: u64 = 1_000_000_000;

/// One slot a second, kept to the end of the run (about 10 kB each).
#[derive(Debug, Default)]
pub struct Timeline {
    seconds: Vec<Second>,
}

/// Counts and response times of the arrivals that were meant for one second.
#[derive(Debug)]
pub struct Second {
    pub offered: u64,
    pub sent: u64,
    pub accepted: u64,
    /// Refusals that are decisions; those that tell of an outage are in `outage`.
    pub refused: u64,
    pub outage: u64,
    pub unknown: u64,
    pub response_us: Histogram<u32>,
}

impl Second {
    fn new() -> Self {
        Self {
            offered: 0,
            sent: 0,
            accepted: 0,
            refused: 0,
            outage: 0,
            unknown: 0,
            response_us: latency::histogram(2),
        }
    }

    fn interval(&self, at_ms: u64) -> Interval {
        Interval {
            at_ms,
            offered: self.offered,
            sent: self.sent,
            accepted: self.accepted,
            refused: self.refused,
            outage: self.outage,
            unknown: self.unknown,
            response_us_p50: self.response_us.value_at_quantile(0.5),
            response_us_p99: self.response_us.value_at_quantile(0.99),
        }
    }
}

impl Timeline {
    /// The second that an intended start falls in.
    pub fn second(&mut self, intended_ns: u64) -> &mut Second {
        let at = (intended_ns / NS_PER_S) as usize;
        while self.seconds.len() <= at {
            self.seconds.push(Second::new());
        }
        &mut self.seconds[at]
    }

    pub fn intervals(&self) -> Vec<Interval> {
        (0..)
            .zip(&self.seconds)
            .map(|(at, second)| second.interval(at * 1000))
            .collect()
    }

    /// Saves the response times as an HdrHistogram interval log (format 1.3, V2 histograms).
    pub fn write_log(&self, path: &Path) -> Result<(), LoadError> {
        self.log_to(path).map_err(|reason| LoadError::ResponseLog {
            path: path.display().to_string(),
            reason,
        })
    }

    fn log_to(&self, path: &Path) -> Result<(), String> {
        let mut file = BufWriter::new(File::create(path).map_err(|error| error.to_string())?);
        let mut serializer = V2Serializer::new();
        let mut log = IntervalLogWriterBuilder::new()
            .add_comment("response time from the intended start, microseconds, by second")
            .begin_log_with(&mut file, &mut serializer)
            .map_err(|error| error.to_string())?;
        for (at, second) in (0..).zip(&self.seconds) {
            let start = Duration::from_secs(at);
            log.write_histogram(&second.response_us, start, Duration::from_secs(1), None)
                .map_err(|error| format!("{error:?}"))?;
        }
        file.flush().map_err(|error| error.to_string())
    }
}
