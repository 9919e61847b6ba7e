//! The engine: one thread that wakes on absolute ticks, reads everything that has come, then sends
//! everything that is due. Nothing the server does stops the ticks.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::LoadError;
use super::clock::{self, Clock};
use super::desk::Desk;
use super::figures::{Figures, Generator};
use super::flight::Flight;
use super::follow_up::{FollowUp, FollowUps};
use super::host::HostClock;
use super::images::Images;
use super::job::LoadJob;
use super::mapping::Mapping;
use super::pool::{Place, Pool, Wait};
use super::population::Buyers;
use super::progress::Progress;
use super::reason::reasons;
use super::recorder::{Recorder, RunFigures};
use super::source::Source;
use super::spec::Loop;
use super::strain::{Left, Strain};
use crate::history::FaultEpoch;
use crate::history::operation::OperationKind;

#[derive(Debug)]
pub struct Engine {
    clock: Clock,
    source: Source,
    images: Images,
    pool: Pool,
    desk: Desk,
    timeout_ns: u64,
    base_tick_ns: u64,
    progress: Arc<Progress>,
    epoch: Arc<FaultEpoch>,
    cancel: Arc<AtomicBool>,
    stopped: bool,
    strain: Strain,
}

/// When nothing is due for longer than this, the generator sleeps until something happens: ten ticks would
/// cost more than the two wake-ups of a request.
const QUIET_NS: i64 = 10 * clock::TICK_NS as i64;
/// Connections are looked after this often at least.
const SLEEP_NS_MAX: i64 = 10_000_000;

/// What waits longest.
enum Next {
    Arrival { index: u64, intended_ns: u64 },
    FollowUp { due_ns: u64 },
}

impl Engine {
    /// Prepares everything that can be before the start: request bytes, rules, histograms.
    pub fn new(job: LoadJob) -> Result<Self, LoadError> {
        let spec = &job.spec;
        let load = &spec.load;
        let reasons = reasons(&spec.target);
        let sku_count = u32::try_from(spec.skus.len()).unwrap_or(u32::MAX);
        let source = Source::new(spec.kind, &load.schedule, spec.seed);
        let mean_per_s = match spec.kind {
            Loop::Open => Some(load.schedule.count() * 1_000 / load.schedule.duration_ms().max(1)),
            Loop::Closed => None,
        };
        Ok(Self {
            clock: Clock::starting_at(job.start)?,
            images: Images::new(spec, &job.variables, &job.endpoint.authority)?,
            pool: Pool::new(job.endpoint, load.connections, load.depth, load.timeout_ms)
                .map_err(events("started"))?,
            desk: Desk {
                mapping: Mapping::new(&spec.target, &reasons),
                buyers: Buyers::new(&spec.population, spec.seed, sku_count),
                recorder: Recorder::new(job.history, load, source.phase_counts(), reasons),
                follow_ups: FollowUps::new(&spec.population),
            },
            source,
            timeout_ns: load.timeout_ms * 1_000_000,
            base_tick_ns: clock::tick_ns(mean_per_s),
            progress: job.progress,
            epoch: job.epoch,
            cancel: job.cancel,
            stopped: false,
            strain: Strain::default(),
        })
    }

    /// Runs the schedule to its end and waits for what is outstanding: each request is answered or
    /// timed out, each follow-up sent. Hands the recorder on with the figures of the run.
    pub fn run(mut self) -> Result<(Recorder, RunFigures), LoadError> {
        clock::tighten_timer_slack()?;
        self.strain.goes_first = clock::raise_priority();
        let cpu_before_ns = clock::thread_cpu_ns();
        let host_before = HostClock::read();
        while !self.over() {
            self.tick()?;
        }
        let host = host_before.and_then(|before| Some(HostClock::read()?.since(&before)));
        let run = RunFigures {
            aborted: self.stopped.then(|| "the load was cancelled".to_owned()),
            duration_ns: self.clock.elapsed_ns(),
            generator: Generator {
                cpu_ms: (clock::thread_cpu_ns() - cpu_before_ns) / 1_000_000,
                strain: self.strain,
                host: host.unwrap_or_default(),
            },
        };
        Ok((self.desk.recorder, run))
    }

    fn tick(&mut self) -> Result<(), LoadError> {
        let wait = self.wait();
        self.pool
            .receive(wait, &self.clock, &mut self.desk)
            .map_err(events("received"))?;
        let woke_ns = self.clock.now_ns();
        self.strain.woke(wait.until_ns(), woke_ns);
        if self.cancel.load(Ordering::Relaxed) {
            self.stopped = true;
            self.desk.follow_ups.clear();
        } else {
            self.send_due();
        }
        self.pool
            .flush(&self.clock, self.epoch.now(), &mut self.desk);
        self.pool.tend(&self.clock, &mut self.desk);
        self.progress.publish(self.desk.recorder.counts());
        let took_ns = u64::try_from(self.clock.now_ns() - woke_ns).unwrap_or(0);
        self.strain.worked(took_ns, self.tick_ns(), self.left());
        Ok(())
    }

    fn tick_ns(&self) -> u64 {
        match self.left() {
            Left::WithoutRoom => {
                clock::waiting_tick_ns(self.base_tick_ns, self.pool.answer_took_ns())
            }
            Left::Nothing | Left::WithoutConnection => self.base_tick_ns,
        }
    }

    fn left(&self) -> Left {
        match self.source.waiting() {
            None => Left::Nothing,
            Some(_) if self.pool.is_cut_off() => Left::WithoutConnection,
            Some(_) => Left::WithoutRoom,
        }
    }

    /// Ticks while there is much to do, events while there is little.
    fn wait(&self) -> Wait {
        let now_ns = self.clock.now_ns();
        let due_ns = [
            self.source.next_due_ns(),
            self.desk.follow_ups.next_due_ns(),
        ];
        let next_ns = due_ns.into_iter().flatten().min().unwrap_or(u64::MAX);
        let next_ns = i64::try_from(next_ns).unwrap_or(i64::MAX);
        let busy = self.source.waiting().is_some() || !self.pool.is_settled();
        let asleep = now_ns < -QUIET_NS || self.source.may_be_quiet();
        if busy || !asleep || next_ns < now_ns.saturating_add(QUIET_NS) {
            return Wait::Tick(clock::next_tick(now_ns, self.tick_ns()));
        }
        let limit_ns = if now_ns < 0 { 0 } else { i64::MAX };
        Wait::Event(next_ns.min(now_ns + SLEEP_NS_MAX).min(limit_ns))
    }

    /// Queues what is due, the longest waiting first, as far as the connections have room. What
    /// waits longer than the time-out is dropped: a buyer would have gone.
    fn send_due(&mut self) {
        let now_ns = self.clock.now_ns();
        let Ok(now_ns) = u64::try_from(now_ns) else {
            return;
        };
        let recorder = &mut self.desk.recorder;
        self.source
            .come_due(now_ns, || self.pool.room(), |_, ns| recorder.offered(ns));
        while let Some(next) = self.next(now_ns) {
            let queued = match next {
                Next::Arrival { index, intended_ns } => self.arrive(index, intended_ns, now_ns),
                Next::FollowUp { due_ns } => self.follow_up(due_ns, now_ns),
            };
            if !queued {
                break;
            }
        }
    }

    fn next(&self, now_ns: u64) -> Option<Next> {
        let due_ns = self
            .desk
            .follow_ups
            .next_due_ns()
            .filter(|due| *due <= now_ns);
        match (self.source.waiting(), due_ns) {
            (Some((_, intended_ns)), Some(due_ns)) if due_ns < intended_ns => {
                Some(Next::FollowUp { due_ns })
            }
            (Some((index, intended_ns)), _) => Some(Next::Arrival { index, intended_ns }),
            (None, Some(due_ns)) => Some(Next::FollowUp { due_ns }),
            (None, None) => None,
        }
    }

    /// False: no connection has room.
    fn arrive(&mut self, index: u64, intended_ns: u64, now_ns: u64) -> bool {
        if now_ns > intended_ns + self.timeout_ns {
            self.desk.recorder.dropped();
            self.source.pass();
            return true;
        }
        let Some(place) = self.pool.place() else {
            return false;
        };
        let purchase = self.desk.buyers.purchase(index);
        let flight = Flight::due(index, OperationKind::Buy, purchase, 0, intended_ns);
        self.pool.queue(place, flight, |out| {
            self.images.write(OperationKind::Buy, &purchase, "", out);
        });
        self.source.pass();
        true
    }

    /// False: no connection has room.
    fn follow_up(&mut self, due_ns: u64, now_ns: u64) -> bool {
        if now_ns > due_ns + self.timeout_ns {
            if let Some(late) = self.desk.follow_ups.take() {
                self.desk.recorder.dropped_follow_up(late.kind);
            }
            return true;
        }
        let Some(place) = self.pool.place() else {
            return false;
        };
        if let Some(follow_up) = self.desk.follow_ups.take() {
            self.send_follow_up(place, &follow_up);
        }
        true
    }

    fn send_follow_up(&mut self, place: Place, follow_up: &FollowUp) {
        let FollowUp {
            index,
            kind,
            purchase,
            click,
            due_ns,
            ..
        } = *follow_up;
        let flight = Flight::due(index, kind, purchase, click, due_ns);
        self.pool.queue(place, flight, |out| {
            let purchase = &follow_up.purchase;
            self.images
                .write(follow_up.kind, purchase, &follow_up.order_id, out);
        });
    }

    /// Everything was sent, dropped or cancelled, and nothing is outstanding; or it can no longer be
    /// recorded.
    fn over(&self) -> bool {
        let sent = self.stopped || self.source.over(self.clock.elapsed_ns());
        let done =
            sent && self.desk.follow_ups.next_due_ns().is_none() && !self.pool.any_outstanding();
        done || self.desk.recorder.failed()
    }
}

fn events(doing: &'static str) -> impl Fn(std::io::Error) -> LoadError {
    move |source| LoadError::Events { doing, source }
}

/// Runs a load on the calling thread.
pub fn run(job: LoadJob) -> Result<Figures, LoadError> {
    let (recorder, run) = Engine::new(job)?.run()?;
    recorder.finish(run)
}
