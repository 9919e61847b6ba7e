//! Figures of a finished load, as saved in `load.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::class::Class;
use super::figures::{Figures, Generator, PhaseFigures, sum};
use super::host::HostUse;
use super::latency::PhaseTimes;
use super::strain::Strain;
use super::timeline::SealedSecond;

/// One run's load in numbers. Latencies in microseconds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LoadSummary {
    /// Arrivals that the schedule holds.
    pub offered: u64,
    /// Arrivals that were written to a connection.
    pub sent: u64,
    /// Sent more than 1 ms (ten ticks) after their time.
    pub late: u64,
    /// Never sent.
    pub dropped: u64,
    pub offered_per_s: f64,
    pub sent_per_s: f64,
    pub sent_share: f64,
    /// Intended to sent.
    pub schedule_lag_us: Percentiles,
    /// Intended to completed.
    pub response_us: Percentiles,
    /// Sent to completed.
    pub service_us: Percentiles,
    pub phases: Vec<PhaseSummary>,
    /// Clicks outside the schedule, of buyers who were not served before.
    #[serde(default)]
    pub retries: RetryFigures,
    /// Buy attempts by outcome, later clicks among them: `accepted`, `refused:<reason>`, `unknown:<reason>`.
    pub outcomes: BTreeMap<String, u64>,
    /// Follow-up requests by kind and outcome: `pay:accepted`, ...
    pub follow_ups: BTreeMap<String, u64>,
    pub timeline: Vec<Interval>,
    /// When the last buy ended that was unknown or an outage refusal; since the first arrival.
    pub last_outage_ms: Option<u64>,
    pub first_outage_ms: Option<u64>,
    /// The schedule was cut short (abort, Ctrl-C): never a pass.
    pub aborted: Option<String>,
    pub duration_ms: u64,
    /// CPU that the generator's own thread used.
    pub generator_cpu_ms: u64,
    /// Answers by HTTP status.
    #[serde(default)]
    pub statuses: BTreeMap<String, u64>,
    #[serde(default)]
    pub strain: Strain,
    #[serde(default)]
    pub host: HostUse,
    /// What kept the generator from its schedule most, in a sentence; None: nothing to speak of.
    #[serde(default)]
    pub held_up_by: Option<String>,
}

/// Clicks of buyers who try again. They are in no figure of the schedule (offered, sent, late, lag, phases,
/// response times), but what they were answered is in `outcomes` and in the timeline.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetryFigures {
    pub sent: u64,
    /// Found no place on a connection in time.
    pub dropped: u64,
    /// There were too many to plan for.
    pub not_planned: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Percentiles {
    pub p50: u64,
    pub p90: u64,
    pub p99: u64,
    pub p999: u64,
    pub max: u64,
}

/// The same figures for one phase of the schedule.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PhaseSummary {
    pub name: String,
    pub offered: u64,
    pub sent: u64,
    /// Sent more than 1 ms after their time.
    #[serde(default)]
    pub late: u64,
    pub schedule_lag_us: Percentiles,
    #[serde(default)]
    pub service_us: Percentiles,
    pub response_us: Percentiles,
    /// Response times by class of the answer, those that came up.
    #[serde(default)]
    pub responses: BTreeMap<Class, ClassSummary>,
}

/// Answers of one class.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassSummary {
    pub count: u64,
    pub response_us: Percentiles,
}

/// One second of the load; counts by the time of the intended start (of a later click: when it was due). `offered`
/// and `sent` are of the schedule's arrivals. A buy that ended is in exactly one of
/// `accepted`, `refused` (a decision), `outage` (a refusal that tells of one) and `unknown`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    pub at_ms: u64,
    pub offered: u64,
    pub sent: u64,
    pub accepted: u64,
    pub refused: u64,
    pub outage: u64,
    pub unknown: u64,
    #[serde(default)]
    pub schedule_lag_us_p99: u64,
    pub response_us_p50: u64,
    pub response_us_p99: u64,
}

impl RetryFigures {
    pub(super) fn add(&mut self, other: &Self) {
        self.sent += other.sent;
        self.dropped += other.dropped;
        self.not_planned += other.not_planned;
    }
}

impl Interval {
    /// Adds the counts of the same second elsewhere; percentiles do not add.
    pub(super) fn add(&mut self, other: &Self) {
        self.offered += other.offered;
        self.sent += other.sent;
        self.accepted += other.accepted;
        self.refused += other.refused;
        self.outage += other.outage;
        self.unknown += other.unknown;
    }
}

impl PhaseFigures {
    pub fn summary(&self) -> PhaseSummary {
        let classes = Class::ALL.into_iter().zip(&self.response_us);
        PhaseSummary {
            name: self.name.clone(),
            offered: self.offered,
            sent: self.sent,
            late: self.late,
            schedule_lag_us: self.lag_us.percentiles(),
            service_us: self.service_us.percentiles(),
            response_us: self.all_responses().percentiles(),
            responses: classes
                .filter_map(|(class, times)| Some((class, ClassSummary::of(times)?)))
                .collect(),
        }
    }
}

impl ClassSummary {
    /// None: no answer was of this class.
    fn of(times: &PhaseTimes) -> Option<Self> {
        let count = times.histogram().len();
        (count > 0).then(|| Self {
            count,
            response_us: times.percentiles(),
        })
    }
}

impl Figures {
    /// The load in numbers.
    pub fn summary(&self) -> LoadSummary {
        let total = |part: fn(&PhaseFigures) -> u64| self.phases.iter().map(part).sum::<u64>();
        let (offered, sent) = (total(|phase| phase.offered), total(|phase| phase.sent));
        let responses: Vec<_> = self
            .phases
            .iter()
            .map(PhaseFigures::all_responses)
            .collect();
        let strain = all_strain(&self.generators);
        let host = self
            .generators
            .first()
            .map_or(HostUse::default(), |one| one.host);
        LoadSummary {
            offered,
            sent,
            late: total(|phase| phase.late),
            dropped: offered - sent,
            offered_per_s: per_second(offered, self.scheduled_ms),
            sent_per_s: per_second(sent, self.scheduled_ms.max(self.last_sent_ms)),
            sent_share: share(sent, offered),
            schedule_lag_us: sum(self.phases.iter().map(|phase| &phase.lag_us)).percentiles(),
            response_us: sum(responses.iter()).percentiles(),
            service_us: sum(self.phases.iter().map(|phase| &phase.service_us)).percentiles(),
            phases: self.phases.iter().map(PhaseFigures::summary).collect(),
            retries: self.retries,
            outcomes: self.outcomes.clone(),
            follow_ups: self.follow_ups.clone(),
            timeline: self.seconds.iter().map(SealedSecond::interval).collect(),
            last_outage_ms: self.last_outage_ms,
            first_outage_ms: self.first_outage_ms,
            aborted: self.aborted.clone(),
            duration_ms: self.duration_ms,
            generator_cpu_ms: self.generators.iter().map(|one| one.cpu_ms).sum(),
            statuses: self.statuses.clone(),
            held_up_by: strain.cause(&host),
            strain,
            host,
        }
    }
}

fn all_strain(generators: &[Generator]) -> Strain {
    let mut each = generators.iter().map(|one| &one.strain);
    let mut all = each.next().cloned().unwrap_or_default();
    each.for_each(|one| all.add(one));
    all
}

fn per_second(count: u64, ms: u64) -> f64 {
    if ms == 0 {
        return 0.0;
    }
    count as f64 * 1e3 / ms as f64
}

/// Nothing offered: nothing was sent, and nothing is no success.
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        return 0.0;
    }
    part as f64 / whole as f64
}
