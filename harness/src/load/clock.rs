//! The engine's time: nanoseconds since the first arrival, and sleeping to absolute ticks.

use std::time::Instant;

use nix::errno::Errno;
use nix::sys::prctl;
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, ClockNanosleepFlags, clock_gettime, clock_nanosleep};
use thread_priority::{
    RealtimeThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy,
    set_thread_priority_and_policy, thread_native_id,
};

/// The engine wakes this often. Waking per event costs several times the CPU; the price is that sends and
/// completions are stamped up to one tick late.
pub const TICK_NS: u64 = 100_000;
/// And this often where there are so many requests that each tick has a handful all the same: half as many
/// wake-ups for the generator, and for the server.
const DENSE_TICK_NS: u64 = 200_000;
const DENSE_PER_S: u64 = 50_000;
/// While all connections wait for their answers, a tick is one part in so many of what an answer takes, at most the
/// longest: the generator has nothing to do, and the servers want the processors.
const WAITING_TICK_SHARE: u64 = 100;
const WAITING_TICK_NS_MAX: u64 = 1_000_000;
/// The kernel's default slack of 50 µs would add half a tick of lag.
const TIMER_SLACK_NS: u64 = 1;
const NS_PER_S: i64 = 1_000_000_000;

/// `CLOCK_MONOTONIC` counted from the first arrival.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    /// `CLOCK_MONOTONIC` at the first arrival.
    origin_ns: i64,
}

impl Clock {
    /// A clock that reads 0 at `start`, which may lie ahead.
    pub fn starting_at(start: Instant) -> Result<Self, Errno> {
        let monotonic = read(ClockId::CLOCK_MONOTONIC)?;
        let now = Instant::now();
        let ahead = start.saturating_duration_since(now).as_nanos() as i64;
        let behind = now.saturating_duration_since(start).as_nanos() as i64;
        Ok(Self {
            origin_ns: monotonic + ahead - behind,
        })
    }

    /// Nanoseconds since the first arrival; negative before it.
    pub fn now_ns(&self) -> i64 {
        // The monotonic clock of a running system can always be read.
        read(ClockId::CLOCK_MONOTONIC).map_or(0, |ns| ns - self.origin_ns)
    }

    /// Nanoseconds since the first arrival; 0 before it.
    pub fn elapsed_ns(&self) -> u64 {
        u64::try_from(self.now_ns()).unwrap_or(0)
    }

    /// What `CLOCK_MONOTONIC` reads when this clock reads `at_ns`.
    pub fn monotonic_ns(&self, at_ns: i64) -> i64 {
        self.origin_ns + at_ns
    }

    /// Sleeps until the clock reads `at_ns`; returns at once when that is past.
    pub fn sleep_until(&self, at_ns: i64) -> Result<(), Errno> {
        let at = self.monotonic_ns(at_ns);
        let time = TimeSpec::new(at / NS_PER_S, at % NS_PER_S);
        loop {
            match clock_nanosleep(
                ClockId::CLOCK_MONOTONIC,
                ClockNanosleepFlags::TIMER_ABSTIME,
                &time,
            ) {
                Ok(_) => return Ok(()),
                Err(Errno::EINTR) => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// The length of a tick for a load of this mean rate; None: as fast as the server answers.
pub fn tick_ns(mean_per_s: Option<u64>) -> u64 {
    if mean_per_s.is_none_or(|rate| rate >= DENSE_PER_S) {
        DENSE_TICK_NS
    } else {
        TICK_NS
    }
}

/// The length of a tick while no connection has room and the last answer took so long.
pub fn waiting_tick_ns(tick_ns: u64, answer_took_ns: u64) -> u64 {
    (answer_took_ns / WAITING_TICK_SHARE).clamp(tick_ns, WAITING_TICK_NS_MAX)
}

/// The tick after `now_ns` on the grid of ticks; ticks that were overslept are left out.
pub fn next_tick(now_ns: i64, tick_ns: u64) -> i64 {
    let tick = tick_ns as i64;
    (now_ns.div_euclid(tick) + 1) * tick
}

/// Asks the kernel to wake the calling thread on time.
pub fn tighten_timer_slack() -> Result<(), Errno> {
    prctl::set_timerslack(TIMER_SLACK_NS)
}

/// Lets the calling thread go before all others: the schedule must hold while servers on the same machine want all
/// of it, as it would from a machine of its own. It sleeps between ticks, so it cannot keep others out. Without
/// the right to (an ordinary user), it stays as it is: a schedule that then cannot be held shows as lag, and makes
/// the run inconclusive. Says whether it does.
pub fn raise_priority() -> bool {
    let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
    let raised = set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, policy);
    if let Err(error) = raised {
        tracing::debug!(?error, "the load thread keeps its priority");
        return false;
    }
    true
}

/// CPU that the calling thread has used, nanoseconds.
pub fn thread_cpu_ns() -> u64 {
    read(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(0, |ns| ns as u64)
}

fn read(clock: ClockId) -> Result<i64, Errno> {
    clock_gettime(clock).map(|time| time.tv_sec() * NS_PER_S + time.tv_nsec())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn ticks_lie_on_a_grid_and_never_in_the_past() {
        let cases = [
            (0, 100_000),
            (1, 100_000),
            (99_999, 100_000),
            (100_000, 200_000),
            (1_234_567, 1_300_000),
            (-1, 0),
            (-100_000, 0),
            (-100_001, -100_000),
        ];
        for (now, next) in cases {
            assert_eq!(next_tick(now, TICK_NS), next, "{now}");
        }
    }

    #[test]
    fn who_waits_for_slow_answers_ticks_slowly() {
        let cases = [(0, 100), (1_000, 100), (50_000, 500), (9_000_000, 1_000)];
        for (took_us, tick_us) in cases {
            let tick_ns = waiting_tick_ns(TICK_NS, took_us * 1_000);
            assert_eq!(tick_ns, tick_us * 1_000, "{took_us}");
        }
    }

    #[test]
    fn sleeps_across_the_start() {
        let clock = Clock::starting_at(Instant::now() + Duration::from_millis(5)).unwrap();
        assert!(clock.now_ns() < 0);
        assert_eq!(clock.elapsed_ns(), 0);
        clock.sleep_until(1_000_000).unwrap();
        assert!(clock.now_ns() >= 1_000_000);
        clock.sleep_until(-5_000_000).unwrap();
    }
}
