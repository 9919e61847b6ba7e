//! Turns sent and completed requests into the history and the figures of the summary.
//!
//! Response time and schedule lag count from the intended start, so a stalled server or a late
//! generator shows in full. Only buys are arrivals; follow-ups are recorded and tallied apart.

use std::path::Path;

use hdrhistogram::Histogram;

use crate::history::operation::{Operation, OperationKind, Outcome};
use crate::history::{HistoryError, HistoryWriter};

use super::LoadError;
use super::figures::{Outages, PhaseFigures};
use super::flight::Flight;
use super::latency::{self, histogram, percentiles};
use super::mapping::Meaning;
use super::progress::Counts;
use super::schedule::Schedule;
use super::summary::LoadSummary;
use super::tally::Tally;
use super::timeline::Timeline;
use super::timetable::Timetable;

/// An arrival sent this long after its time is late. Ten ticks: what a tick's own work adds is not.
const LATE_NS: u64 = 1_000_000;
const NS_PER_MS: u64 = 1_000_000;

#[derive(Debug)]
pub struct Recorder {
    history: HistoryWriter,
    /// First failure to record; the load is worthless from there.
    failure: Option<HistoryError>,
    timetable: Timetable,
    phases: Vec<PhaseFigures>,
    service_us: Histogram<u64>,
    timeline: Timeline,
    tally: Tally,
    counts: Counts,
    late: u64,
    last_sent_ns: u64,
    outages: Outages,
}

/// What the engine knows about the run as a whole.
#[derive(Debug)]
pub struct RunFigures {
    pub aborted: Option<String>,
    pub duration_ns: u64,
    pub generator_cpu_ns: u64,
}

impl Recorder {
    pub fn new(history: HistoryWriter, schedule: &Schedule, reasons: Vec<String>) -> Self {
        Self {
            history,
            failure: None,
            timetable: schedule.timetable(),
            phases: schedule.phases.iter().map(PhaseFigures::new).collect(),
            service_us: histogram(3),
            timeline: Timeline::default(),
            tally: Tally::new(reasons),
            counts: Counts::default(),
            late: 0,
            last_sent_ns: 0,
            outages: Outages::default(),
        }
    }

    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    pub fn failed(&self) -> bool {
        self.failure.is_some()
    }

    /// The time of an arrival has come.
    pub fn offered(&mut self, index: u64, intended_ns: u64) {
        self.counts.offered += 1;
        self.timeline.second(intended_ns).offered += 1;
        self.phases[self.timetable.phase_of(index)].offered += 1;
    }

    /// An arrival, or a follow-up, that found no place on a connection in time.
    pub fn dropped(&mut self, kind: OperationKind) {
        if kind == OperationKind::Buy {
            self.counts.dropped += 1;
        } else {
            self.tally.drop_follow_up(kind);
        }
    }

    pub fn sent(&mut self, flight: &Flight) {
        if flight.kind != OperationKind::Buy {
            return;
        }
        self.counts.sent += 1;
        self.last_sent_ns = flight.sent_ns;
        if flight.sent_ns > flight.intended_ns + LATE_NS {
            self.late += 1;
        }
        self.timeline.second(flight.intended_ns).sent += 1;
        let phase = &mut self.phases[self.timetable.phase_of(flight.index)];
        phase.sent += 1;
        latency::record(&mut phase.lag_us, flight.intended_ns, flight.sent_ns);
    }

    pub fn completed(&mut self, operation: &Operation, meaning: Meaning, order_id: Option<&str>) {
        self.tally.count(operation.kind, meaning);
        if operation.kind == OperationKind::Buy {
            self.buy_completed(operation, meaning);
        }
        if self.failure.is_none() {
            self.failure = self.history.append(operation, order_id).err();
        }
    }

    fn buy_completed(&mut self, buy: &Operation, meaning: Meaning) {
        let second = self.timeline.second(buy.intended_ns);
        let (total, in_second) = match meaning.outcome {
            Outcome::Accepted => (&mut self.counts.accepted, &mut second.accepted),
            Outcome::Refused if meaning.outage => (&mut self.counts.refused, &mut second.outage),
            Outcome::Refused => (&mut self.counts.refused, &mut second.refused),
            Outcome::Unknown => (&mut self.counts.unknown, &mut second.unknown),
        };
        *total += 1;
        *in_second += 1;
        latency::record(&mut second.response_us, buy.intended_ns, buy.completed_ns);
        let phase = &mut self.phases[self.timetable.phase_of(buy.index)];
        latency::record(&mut phase.response_us, buy.intended_ns, buy.completed_ns);
        latency::record(&mut self.service_us, buy.sent_ns, buy.completed_ns);
        if meaning.outage || meaning.outcome == Outcome::Unknown {
            self.outages.see(buy.completed_ns);
        }
    }

    /// Ends the history and adds up.
    ///
    /// # Errors
    /// The history or the response time log could not be written.
    pub fn finish(
        self,
        run: RunFigures,
        response_log: Option<&Path>,
    ) -> Result<LoadSummary, LoadError> {
        let summary = self.summary(run);
        let ended = self.history.finish();
        match self.failure {
            // Ending a broken history tells what broke it.
            Some(failure) => return Err(ended.err().unwrap_or(failure).into()),
            None => ended?,
        };
        if let Some(path) = response_log {
            self.timeline.write_log(path)?;
        }
        Ok(summary)
    }

    fn summary(&self, run: RunFigures) -> LoadSummary {
        let offered = self.timetable.count();
        let scheduled_ns = self.timetable.duration_ns();
        let sent = self.counts.sent;
        LoadSummary {
            offered,
            sent,
            late: self.late,
            dropped: offered - sent,
            offered_per_s: per_second(offered, scheduled_ns),
            sent_per_s: per_second(sent, scheduled_ns.max(self.last_sent_ns)),
            sent_share: share(sent, offered),
            schedule_lag_us: percentiles(&latency::merged(self.phases.iter().map(|p| &p.lag_us))),
            response_us: percentiles(&latency::merged(self.phases.iter().map(|p| &p.response_us))),
            service_us: percentiles(&self.service_us),
            phases: self.phases.iter().map(PhaseFigures::summary).collect(),
            outcomes: self.tally.buys(),
            follow_ups: self.tally.follow_ups(),
            timeline: self.timeline.intervals(),
            last_outage_ms: self.outages.last_ms(),
            first_outage_ms: self.outages.first_ms(),
            aborted: run.aborted,
            duration_ms: run.duration_ns / NS_PER_MS,
            generator_cpu_ms: run.generator_cpu_ns / NS_PER_MS,
        }
    }
}

fn per_second(count: u64, ns: u64) -> f64 {
    if ns == 0 {
        return 0.0;
    }
    count as f64 * 1e9 / ns as f64
}

/// Nothing offered: nothing was sent, and nothing is no success.
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        return 0.0;
    }
    part as f64 / whole as f64
}
