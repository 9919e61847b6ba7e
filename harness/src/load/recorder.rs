//! Turns sent and completed requests into the history and the figures.
//!
//! Response time and schedule lag count from the intended start, so a stalled server or a late
//! generator shows in full. Only first clicks are arrivals; follow-ups and later clicks are recorded, and
//! counted apart where the schedule is judged.

use crate::history::operation::{Operation, OperationKind};
use crate::history::{HistoryError, HistoryWriter};

use super::LoadError;
use super::class::Class;
use super::figures::{Figures, Generator, PhaseFigures};
use super::flight::Flight;
use super::mapping::Meaning;
use super::outages::Outages;
use super::progress::Counts;
use super::spec::Load;
use super::summary::RetryFigures;
use super::tally::Tally;
use super::timeline::Timeline;
use super::timetable::Timetable;

/// An arrival sent this long after its time is late. Ten ticks: what a tick's own work adds is not.
const LATE_NS: u64 = 1_000_000;
const NS_PER_MS: u64 = 1_000_000;

#[derive(Debug)]
pub struct Recorder {
    history: Option<HistoryWriter>,
    /// First failure to record; the load is worthless from there.
    failure: Option<HistoryError>,
    timetable: Timetable,
    /// Arrivals of each phase; None: the loop is closed.
    planned: Option<Vec<u64>>,
    phases: Vec<PhaseFigures>,
    timeline: Timeline,
    tally: Tally,
    retries: RetryFigures,
    counts: Counts,
    last_sent_ns: u64,
    outages: Outages,
}

/// What the engine knows about the run as a whole.
#[derive(Debug)]
pub struct RunFigures {
    pub aborted: Option<String>,
    pub duration_ns: u64,
    pub generator: Generator,
}

impl Recorder {
    /// Without a history only figures are kept.
    pub fn new(
        history: Option<HistoryWriter>,
        load: &Load,
        planned: Option<Vec<u64>>,
        reasons: Vec<String>,
    ) -> Self {
        let phases = load.schedule.phases.iter();
        Self {
            history,
            failure: None,
            timetable: load.schedule.timetable(),
            planned,
            phases: phases.map(|phase| PhaseFigures::new(&phase.name)).collect(),
            // Time-outs at most: one waiting for a place, one waiting for the answer.
            timeline: Timeline::new(2 * load.timeout_ms),
            tally: Tally::new(reasons),
            retries: RetryFigures::default(),
            counts: Counts::default(),
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
    pub fn offered(&mut self, intended_ns: u64) {
        self.counts.offered += 1;
        self.timeline.offered(intended_ns);
        self.phase(intended_ns).offered += 1;
    }

    fn phase(&mut self, intended_ns: u64) -> &mut PhaseFigures {
        &mut self.phases[self.timetable.phase_at(intended_ns)]
    }

    /// An arrival that found no place on a connection in time.
    pub fn dropped(&mut self) {
        self.counts.dropped += 1;
    }

    /// A follow-up, or another click (a buy), that found none.
    pub fn dropped_follow_up(&mut self, kind: OperationKind) {
        match kind {
            OperationKind::Buy => self.retries.dropped += 1,
            OperationKind::Status | OperationKind::Pay | OperationKind::Cancel => {
                self.tally.drop_follow_up(kind);
            }
        }
    }

    /// A follow-up, or another click (a buy), that there was no memory to plan for.
    pub fn not_planned(&mut self, kind: OperationKind) {
        match kind {
            OperationKind::Buy => self.retries.not_planned += 1,
            OperationKind::Status | OperationKind::Pay | OperationKind::Cancel => {
                self.tally.not_planned(kind);
            }
        }
    }

    pub fn sent(&mut self, flight: &Flight) {
        if flight.kind != OperationKind::Buy {
            return;
        }
        if flight.is_retry() {
            self.retries.sent += 1;
            return;
        }
        self.counts.sent += 1;
        self.last_sent_ns = flight.sent_ns;
        self.timeline.sent(flight.intended_ns, flight.sent_ns);
        let phase = self.phase(flight.intended_ns);
        phase.sent += 1;
        phase.late += u64::from(flight.sent_ns > flight.intended_ns + LATE_NS);
        phase.lag_us.record(flight.intended_ns, flight.sent_ns);
    }

    pub fn completed(
        &mut self,
        flight: &Flight,
        operation: &Operation,
        meaning: Meaning,
        order_id: Option<&str>,
    ) {
        self.tally.count(operation, meaning);
        if operation.kind == OperationKind::Buy {
            let class = Class::of(meaning);
            self.buy_completed(operation, class);
            if !flight.is_retry() {
                self.arrival_completed(operation, class);
            }
        }
        if let Some(history) = &mut self.history
            && self.failure.is_none()
        {
            self.failure = history.append(operation, order_id).err();
        }
    }

    fn buy_completed(&mut self, buy: &Operation, class: Class) {
        *match class {
            Class::Accepted => &mut self.counts.accepted,
            Class::Refused | Class::Outage => &mut self.counts.refused,
            Class::Unknown => &mut self.counts.unknown,
        } += 1;
        self.timeline.answered(buy.intended_ns, class);
        if matches!(class, Class::Outage | Class::Unknown) {
            self.outages.see(buy.completed_ns);
        }
    }

    /// Times are those of the schedule's arrivals alone.
    fn arrival_completed(&mut self, buy: &Operation, class: Class) {
        self.timeline.response(buy.intended_ns, buy.completed_ns);
        let phase = self.phase(buy.intended_ns);
        phase.service_us.record(buy.sent_ns, buy.completed_ns);
        phase.response_us[class as usize].record(buy.intended_ns, buy.completed_ns);
    }

    /// Ends the history and adds up.
    ///
    /// # Errors
    /// The history could not be written.
    pub fn finish(mut self, mut run: RunFigures) -> Result<Figures, LoadError> {
        if let Some(history) = self.history.take() {
            let waited = history.waited();
            run.generator.strain.history_wait_ns = waited.as_nanos() as u64;
            let ended = history.finish();
            match self.failure.take() {
                // Ending a broken history tells what broke it.
                Some(failure) => return Err(ended.err().unwrap_or(failure).into()),
                None => ended?,
            };
        }
        Ok(self.figures(run))
    }

    fn figures(mut self, run: RunFigures) -> Figures {
        // A load that was cut short had more to offer; a closed loop offers what it sends.
        for (phase, planned) in self
            .phases
            .iter_mut()
            .zip(self.planned.into_iter().flatten())
        {
            phase.offered = planned;
        }
        Figures {
            scheduled_ms: self.timetable.duration_ns() / NS_PER_MS,
            duration_ms: run.duration_ns / NS_PER_MS,
            last_sent_ms: self.last_sent_ns / NS_PER_MS,
            phases: self.phases,
            seconds: self.timeline.seal(),
            outcomes: self.tally.buys(),
            retries: self.retries,
            follow_ups: self.tally.follow_ups(),
            statuses: self.tally.statuses(),
            first_outage_ms: self.outages.first_ms(),
            last_outage_ms: self.outages.last_ms(),
            aborted: run.aborted,
            generators: vec![run.generator],
        }
    }
}
