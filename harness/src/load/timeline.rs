//! The load second by second, by the intended start: an outage shows in the seconds it spoiled, not
//! in those in which its late answers came.
//!
//! A second is sealed (its histogram packed to some hundred bytes) when no more answers can come for
//! it, so that memory does not grow with the length of a load by more than that.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Duration;

use hdrhistogram::serialization::V2Serializer;
use hdrhistogram::serialization::interval_log::IntervalLogWriterBuilder;
use serde::{Deserialize, Serialize};

use super::LoadError;
use super::class::Class;
use super::latency::SecondTimes;
use super::packed::Packed;
use super::summary::Interval;

const NS_PER_S: u64 = 1_000_000_000;

/// The seconds of a load.
#[derive(Debug)]
pub struct Timeline {
    sealed: Vec<SealedSecond>,
    /// Those behind the sealed ones, oldest first.
    open: VecDeque<Second>,
    /// Seconds that are kept open.
    open_max: usize,
}

/// Counts and times of the arrivals that were meant for one second.
#[derive(Debug)]
struct Second {
    counts: Interval,
    lag_us: SecondTimes,
    response_us: SecondTimes,
}

/// A second that is over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SealedSecond {
    counts: Interval,
    lag_us: Packed,
    response_us: Packed,
}

impl Second {
    fn new(at_s: usize) -> Self {
        Self {
            counts: Interval {
                at_ms: at_s as u64 * 1_000,
                ..Interval::default()
            },
            lag_us: SecondTimes::of_second(),
            response_us: SecondTimes::of_second(),
        }
    }

    fn seal(&self) -> SealedSecond {
        SealedSecond {
            counts: self.counts.clone(),
            lag_us: Packed::of(&self.lag_us),
            response_us: Packed::of(&self.response_us),
        }
    }
}

impl SealedSecond {
    pub fn interval(&self) -> Interval {
        let response_us = self.response_us.unpacked();
        Interval {
            schedule_lag_us_p99: self.lag_us.unpacked().at(0.99),
            response_us_p50: response_us.at(0.5),
            response_us_p99: response_us.at(0.99),
            ..self.counts.clone()
        }
    }

    pub fn add(&mut self, other: &Self) {
        self.counts.add(&other.counts);
        self.lag_us.add(&other.lag_us);
        self.response_us.add(&other.response_us);
    }
}

impl Timeline {
    /// Answers may come up to `answer_ms_max` after the intended start.
    pub fn new(answer_ms_max: u64) -> Self {
        let open_max = answer_ms_max.div_ceil(1_000) + 2;
        Self {
            sealed: Vec::new(),
            open: VecDeque::new(),
            open_max: usize::try_from(open_max).unwrap_or(usize::MAX),
        }
    }

    pub fn offered(&mut self, intended_ns: u64) {
        self.second(intended_ns).counts.offered += 1;
    }

    pub fn sent(&mut self, intended_ns: u64, sent_ns: u64) {
        let second = self.second(intended_ns);
        second.counts.sent += 1;
        second.lag_us.record(intended_ns, sent_ns);
    }

    pub fn answered(&mut self, intended_ns: u64, class: Class) {
        let counts = &mut self.second(intended_ns).counts;
        *match class {
            Class::Accepted => &mut counts.accepted,
            Class::Refused => &mut counts.refused,
            Class::Outage => &mut counts.outage,
            Class::Unknown => &mut counts.unknown,
        } += 1;
    }

    pub fn response(&mut self, intended_ns: u64, completed_ns: u64) {
        let second = self.second(intended_ns);
        second.response_us.record(intended_ns, completed_ns);
    }

    /// The second that an intended start falls in; the oldest open one if that is sealed already.
    fn second(&mut self, intended_ns: u64) -> &mut Second {
        let at = (intended_ns / NS_PER_S) as usize;
        while self.sealed.len() + self.open.len() <= at {
            if self.open.len() >= self.open_max
                && let Some(oldest) = self.open.pop_front()
            {
                self.sealed.push(oldest.seal());
            }
            let next = self.sealed.len() + self.open.len();
            self.open.push_back(Second::new(next));
        }
        &mut self.open[at.saturating_sub(self.sealed.len())]
    }

    /// All seconds.
    pub fn seal(mut self) -> Vec<SealedSecond> {
        self.sealed.extend(self.open.iter().map(Second::seal));
        self.sealed
    }
}

/// Saves the response times as an HdrHistogram interval log (format 1.3, V2 histograms).
///
/// # Errors
/// The file cannot be written.
pub fn write_log(seconds: &[SealedSecond], path: &Path) -> Result<(), LoadError> {
    log_to(seconds, path).map_err(|reason| LoadError::ResponseLog {
        path: path.display().to_string(),
        reason,
    })
}

fn log_to(seconds: &[SealedSecond], path: &Path) -> Result<(), String> {
    let mut file = BufWriter::new(File::create(path).map_err(|error| error.to_string())?);
    let mut serializer = V2Serializer::new();
    let mut log = IntervalLogWriterBuilder::new()
        .add_comment("response time from the intended start, microseconds, by second")
        .begin_log_with(&mut file, &mut serializer)
        .map_err(|error| error.to_string())?;
    for (at, second) in (0..).zip(seconds) {
        let times = second.response_us.unpacked();
        let start = Duration::from_secs(at);
        log.write_histogram(times.histogram(), start, Duration::from_secs(1), None)
            .map_err(|error| format!("{error:?}"))?;
    }
    file.flush().map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_answers_count_for_the_second_they_were_meant_for_and_memory_is_bounded() {
        let mut timeline = Timeline::new(1_000);
        for second in 0..50_u64 {
            let intended_ns = second * NS_PER_S;
            timeline.offered(intended_ns);
            timeline.sent(intended_ns, intended_ns + 1_000);
            assert!(timeline.open.len() <= 3);
            let earlier_ns = intended_ns.saturating_sub(NS_PER_S);
            timeline.answered(earlier_ns, Class::Outage);
        }
        let intervals: Vec<_> = timeline.seal().iter().map(SealedSecond::interval).collect();
        assert_eq!(intervals.len(), 50);
        for (at, one) in intervals.iter().enumerate() {
            assert_eq!(
                (one.at_ms, one.offered, one.sent),
                (at as u64 * 1_000, 1, 1)
            );
            let answers = [2, 1, 0][usize::from(at > 0) + usize::from(at == 49)];
            assert_eq!(one.outage, answers, "second {at}");
        }
    }
}
