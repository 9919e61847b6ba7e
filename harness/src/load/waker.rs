//! A timer among the events of a poll, so that a quiet generator sleeps until something happens: the next
//! arrival's time, to the nanosecond, or an answer, whichever is first.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};

/// No connection has this number.
const TOKEN: Token = Token(usize::MAX - 1);
const NS_PER_S: i64 = 1_000_000_000;

#[derive(Debug)]
pub struct Waker {
    timer: TimerFd,
}

impl Waker {
    pub fn new(registry: &Registry) -> io::Result<Self> {
        let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, flags)?;
        let raw = timer.as_fd().as_raw_fd();
        registry.register(&mut SourceFd(&raw), TOKEN, Interest::READABLE)?;
        Ok(Self { timer })
    }

    /// Makes the poll return when `CLOCK_MONOTONIC` reads `at_ns`. Setting it anew needs no reading of the old.
    pub fn set(&self, at_ns: i64) -> io::Result<()> {
        let at = TimeSpec::new(at_ns / NS_PER_S, at_ns % NS_PER_S);
        let flags = TimerSetTimeFlags::TFD_TIMER_ABSTIME;
        Ok(self.timer.set(Expiration::OneShot(at), flags)?)
    }

    pub fn is(token: Token) -> bool {
        token == TOKEN
    }
}
