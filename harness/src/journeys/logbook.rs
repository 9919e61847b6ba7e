//! What came of the journeys: every request in the history, every journey in the summary.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::JourneyError;
use super::step::{End, Step};
use super::summary::{JourneySummary, Times};
use crate::history::operation::{Operation, OperationKind};
use crate::history::{HistoryError, HistoryWriter};
use crate::load::latency::PhaseTimes;

/// Written by all buyers.
#[derive(Debug)]
pub struct Logbook {
    /// None: closed.
    pages: Mutex<Option<Pages>>,
}

#[derive(Debug)]
struct Pages {
    history: HistoryWriter,
    /// First failure to record; the journeys are worthless from there.
    failure: Option<HistoryError>,
    started: u64,
    ends: BTreeMap<End, u64>,
    whole_us: PhaseTimes,
    /// Requests that ended, by step.
    answered: BTreeMap<Step, u64>,
    buys: u64,
}

/// A logbook nobody writes in any more.
#[derive(Debug)]
pub struct Closed {
    /// All but Goose's part.
    pub summary: JourneySummary,
    /// Requests that ended, by step: what Goose must have counted.
    pub answered: BTreeMap<Step, u64>,
    pub failure: Option<JourneyError>,
}

impl Logbook {
    pub fn new(history: HistoryWriter) -> Self {
        let pages = Pages {
            history,
            failure: None,
            started: 0,
            ends: BTreeMap::new(),
            whole_us: PhaseTimes::of_phase(),
            answered: BTreeMap::new(),
            buys: 0,
        };
        Self {
            pages: Mutex::new(Some(pages)),
        }
    }

    pub fn started(&self) {
        self.write(|pages| pages.started += 1);
    }

    /// Goose got an end to a request, good or bad.
    pub fn answered(&self, step: Step) {
        self.write(|pages| *pages.answered.entry(step).or_default() += 1);
    }

    pub fn record(&self, operation: &Operation, order_id: Option<&str>) {
        self.write(|pages| {
            pages.buys += u64::from(operation.kind == OperationKind::Buy);
            if pages.failure.is_none() {
                pages.failure = pages.history.append(operation, order_id).err();
            }
        });
    }

    pub fn ended(&self, end: End, took: Duration) {
        self.write(|pages| {
            *pages.ends.entry(end).or_default() += 1;
            if end.is_whole() {
                let took_ns = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
                pages.whole_us.record(0, took_ns);
            }
        });
    }

    /// A buyer that panicked in here left numbers, not half of something: going on is right.
    fn write(&self, what: impl FnOnce(&mut Pages)) {
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pages) = &mut *pages {
            what(pages);
        }
    }

    /// Ends the history and adds up. A buyer who still writes is not heard.
    pub fn close(&self) -> Closed {
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        match pages.take() {
            Some(pages) => pages.close(),
            None => Closed {
                summary: JourneySummary::default(),
                answered: BTreeMap::new(),
                failure: None,
            },
        }
    }
}

impl Pages {
    fn close(self) -> Closed {
        let whole = self.whole_us.percentiles();
        let ended = self.history.finish().err();
        Closed {
            summary: JourneySummary {
                started: self.started,
                ends: self.ends,
                whole_us: Times {
                    p50: whole.p50,
                    p99: whole.p99,
                    max: whole.max,
                },
                buys: self.buys,
                ..JourneySummary::default()
            },
            answered: self.answered,
            // Ending a broken history tells what broke it.
            failure: ended.or(self.failure).map(JourneyError::from),
        }
    }
}
