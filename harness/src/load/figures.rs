//! Everything that was measured of a load, in a form that adds up: figures of several generators merge
//! into those of one that had offered all of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::class::Class;
use super::host::HostUse;
use super::latency::PhaseTimes;
use super::strain::Strain;
use super::summary::RetryFigures;
use super::timeline::SealedSecond;

/// A finished load.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Length of the schedule.
    pub scheduled_ms: u64,
    /// From the first arrival to the last answer.
    pub duration_ms: u64,
    pub last_sent_ms: u64,
    pub phases: Vec<PhaseFigures>,
    pub seconds: Vec<SealedSecond>,
    /// Buys by `accepted`, `refused:<reason>`, `unknown:<reason>`, later clicks among them.
    pub outcomes: BTreeMap<String, u64>,
    /// Clicks outside the schedule, of buyers who were not served before.
    pub retries: RetryFigures,
    /// Follow-ups by kind and outcome.
    pub follow_ups: BTreeMap<String, u64>,
    /// Answers by HTTP status.
    pub statuses: BTreeMap<String, u64>,
    pub first_outage_ms: Option<u64>,
    pub last_outage_ms: Option<u64>,
    pub aborted: Option<String>,
    pub generators: Vec<Generator>,
}

/// What one generator cost and went through.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Generator {
    /// CPU of its own thread.
    pub cpu_ms: u64,
    pub strain: Strain,
    pub host: HostUse,
}

/// One phase of the schedule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhaseFigures {
    pub name: String,
    pub offered: u64,
    pub sent: u64,
    pub late: u64,
    pub lag_us: PhaseTimes,
    pub service_us: PhaseTimes,
    /// By class of the answer, in the order of [`Class::ALL`].
    pub response_us: [PhaseTimes; Class::ALL.len()],
}

/// Figures that cannot be added to these.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("its phases are {theirs}, not {ours}; merge results of one schedule only")]
pub struct OtherSchedule {
    ours: String,
    theirs: String,
}

impl PhaseFigures {
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            offered: 0,
            sent: 0,
            late: 0,
            lag_us: PhaseTimes::of_phase(),
            service_us: PhaseTimes::of_phase(),
            response_us: Class::ALL.map(|_| PhaseTimes::of_phase()),
        }
    }

    /// Response times whatever the answer.
    pub fn all_responses(&self) -> PhaseTimes {
        sum(self.response_us.iter())
    }

    fn add(&mut self, other: &Self) {
        self.offered += other.offered;
        self.sent += other.sent;
        self.late += other.late;
        self.lag_us.add(&other.lag_us);
        self.service_us.add(&other.service_us);
        for (ours, theirs) in self.response_us.iter_mut().zip(&other.response_us) {
            ours.add(theirs);
        }
    }
}

/// All in one.
pub fn sum<'t>(times: impl Iterator<Item = &'t PhaseTimes>) -> PhaseTimes {
    let mut sum = PhaseTimes::of_phase();
    for one in times {
        sum.add(one);
    }
    sum
}

impl Figures {
    /// Adds what another generator measured of the same schedule, started at the same moment.
    ///
    /// # Errors
    /// The other schedule has other phases.
    pub fn add(&mut self, other: &Self) -> Result<(), OtherSchedule> {
        if self.phase_names() != other.phase_names() {
            return Err(OtherSchedule {
                ours: self.phase_names().join(", "),
                theirs: other.phase_names().join(", "),
            });
        }
        self.scheduled_ms = self.scheduled_ms.max(other.scheduled_ms);
        self.duration_ms = self.duration_ms.max(other.duration_ms);
        self.last_sent_ms = self.last_sent_ms.max(other.last_sent_ms);
        for (ours, theirs) in self.phases.iter_mut().zip(&other.phases) {
            ours.add(theirs);
        }
        self.add_seconds(&other.seconds);
        add_counts(&mut self.outcomes, &other.outcomes);
        self.retries.add(&other.retries);
        add_counts(&mut self.follow_ups, &other.follow_ups);
        add_counts(&mut self.statuses, &other.statuses);
        self.first_outage_ms = [self.first_outage_ms, other.first_outage_ms]
            .into_iter()
            .flatten()
            .min();
        self.last_outage_ms = self.last_outage_ms.max(other.last_outage_ms);
        self.aborted = self.aborted.take().or_else(|| other.aborted.clone());
        self.generators.extend(other.generators.iter().cloned());
        Ok(())
    }

    fn phase_names(&self) -> Vec<&str> {
        self.phases
            .iter()
            .map(|phase| phase.name.as_str())
            .collect()
    }

    fn add_seconds(&mut self, theirs: &[SealedSecond]) {
        for (ours, theirs) in self.seconds.iter_mut().zip(theirs) {
            ours.add(theirs);
        }
        let more = theirs.get(self.seconds.len()..).unwrap_or_default();
        self.seconds.extend_from_slice(more);
    }
}

fn add_counts(ours: &mut BTreeMap<String, u64>, theirs: &BTreeMap<String, u64>) {
    for (key, count) in theirs {
        *ours.entry(key.clone()).or_default() += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::timeline::Timeline;

    /// One generator's share: arrivals `from..to` of a schedule of one a millisecond.
    fn part(arrivals: impl Iterator<Item = u64>) -> Figures {
        let mut phase = PhaseFigures::new("rush");
        let mut timeline = Timeline::new(1_000);
        let mut outcomes = BTreeMap::new();
        for index in arrivals {
            let intended_ns = index * 1_000_000;
            phase.offered += 1;
            phase.sent += 1;
            phase.lag_us.record(0, index * 1_000);
            phase.response_us[index as usize % 4].record(0, index * 5_000);
            timeline.offered(intended_ns);
            timeline.answered(intended_ns, Class::Accepted);
            timeline.response(intended_ns, intended_ns + 5_000);
            *outcomes.entry("accepted".to_owned()).or_default() += 1;
        }
        Figures {
            phases: vec![phase],
            seconds: timeline.seal(),
            outcomes,
            ..Figures::default()
        }
    }

    #[test]
    fn parts_add_up_to_the_whole_also_when_they_were_saved() {
        let whole = part(0..2_500);
        let saved = serde_json::to_string(&part((0..2_500).step_by(2))).unwrap();
        let mut sum: Figures = serde_json::from_str(&saved).unwrap();
        sum.add(&part((1..2_500).step_by(2))).unwrap();
        assert_eq!(sum, whole);
    }

    #[test]
    fn a_longer_part_keeps_its_seconds() {
        let mut short = part(0..10);
        short.add(&part(0..3_500)).unwrap();
        assert_eq!(short.seconds.len(), 4);
        assert_eq!(short.summary().offered, 3_510);
    }

    #[test]
    fn other_schedules_are_not_added() {
        let mut one = part(0..1);
        let mut other = part(0..1);
        other.phases[0].name = "calm".into();
        let error = one.add(&other).unwrap_err().to_string();
        assert!(error.contains("calm") && error.contains("rush"), "{error}");
    }
}
