//! Live byte counters: the proof that a link carried traffic and that a fault bit.

use std::ops::{Add, Sub};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use super::toxic::Stream;

/// Counters of one direction of one link, all its connections together, or of one connection.
#[derive(Debug, Default)]
struct Counter {
    received: AtomicU64,
    forwarded: AtomicU64,
    held_back: AtomicU64,
    delayed: AtomicU64,
}

impl Counter {
    fn read(&self) -> DirectionTraffic {
        DirectionTraffic {
            received_bytes: self.received.load(Ordering::Relaxed),
            forwarded_bytes: self.forwarded.load(Ordering::Relaxed),
            held_back_bytes: self.held_back.load(Ordering::Relaxed),
            delayed_bytes: self.delayed.load(Ordering::Relaxed),
        }
    }
}

/// Counters of one link, or of one connection.
#[derive(Debug, Default)]
pub struct Counters {
    upstream: Counter,
    downstream: Counter,
    pub connections_open: AtomicU64,
    pub connections_total: AtomicU64,
    pub connections_reset: AtomicU64,
    pub connections_cut: AtomicU64,
    pub connections_refused: AtomicU64,
}

impl Counters {
    fn of(&self, stream: Stream) -> &Counter {
        match stream {
            Stream::Upstream => &self.upstream,
            Stream::Downstream => &self.downstream,
        }
    }

    pub fn direction(&self, stream: Stream) -> DirectionTraffic {
        self.of(stream).read()
    }

    pub fn read(&self) -> Traffic {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Traffic {
            upstream: self.upstream.read(),
            downstream: self.downstream.read(),
            connections_open: count(&self.connections_open),
            connections_total: count(&self.connections_total),
            connections_reset: count(&self.connections_reset),
            connections_cut: count(&self.connections_cut),
            connections_refused: count(&self.connections_refused),
        }
    }
}

/// Counts one direction of one connection, for its link and for itself.
#[derive(Debug)]
pub struct Meter {
    pub stream: Stream,
    pub link: Arc<Counters>,
    pub connection: Arc<Counters>,
}

impl Meter {
    pub fn add_received(&self, bytes: usize) {
        self.add(bytes, |counter| &counter.received);
    }

    pub fn add_forwarded(&self, bytes: usize) {
        self.add(bytes, |counter| &counter.forwarded);
    }

    pub fn add_held_back(&self, bytes: usize) {
        self.add(bytes, |counter| &counter.held_back);
    }

    pub fn add_delayed(&self, bytes: usize) {
        self.add(bytes, |counter| &counter.delayed);
    }

    /// The connection has carried nothing yet, in either direction.
    pub fn is_fresh(&self) -> bool {
        Stream::BOTH
            .iter()
            .all(|stream| self.connection.direction(*stream).received_bytes == 0)
    }

    fn add(&self, bytes: usize, which: impl Fn(&Counter) -> &AtomicU64) {
        for counters in [&self.link, &self.connection] {
            which(counters.of(self.stream)).fetch_add(bytes as u64, Ordering::Relaxed);
        }
    }
}

/// What one direction has carried since the link was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirectionTraffic {
    pub received_bytes: u64,
    pub forwarded_bytes: u64,
    /// Swallowed by a black hole, or held by a stall. What a stall held counts as forwarded too once it
    /// went on.
    pub held_back_bytes: u64,
    /// Made to wait by latency, bandwidth or slices.
    pub delayed_bytes: u64,
}

/// `GET /proxies/{name}/traffic`, an addition to Toxiproxy's API.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traffic {
    pub upstream: DirectionTraffic,
    pub downstream: DirectionTraffic,
    pub connections_open: u64,
    pub connections_total: u64,
    /// Ended by a RST that a toxic or an order made, or that one side sent and the other was passed.
    pub connections_reset: u64,
    /// Closed by a toxic, by disabling the link, or by removing it.
    pub connections_cut: u64,
    /// Closed because the upstream refused, or could not be reached.
    pub connections_refused: u64,
}

impl Traffic {
    /// Each figure of the two, combined.
    fn with(self, other: Self, combine: impl Fn(u64, u64) -> u64) -> Self {
        let direction = |a: DirectionTraffic, b: DirectionTraffic| DirectionTraffic {
            received_bytes: combine(a.received_bytes, b.received_bytes),
            forwarded_bytes: combine(a.forwarded_bytes, b.forwarded_bytes),
            held_back_bytes: combine(a.held_back_bytes, b.held_back_bytes),
            delayed_bytes: combine(a.delayed_bytes, b.delayed_bytes),
        };
        Self {
            upstream: direction(self.upstream, other.upstream),
            downstream: direction(self.downstream, other.downstream),
            connections_open: combine(self.connections_open, other.connections_open),
            connections_total: combine(self.connections_total, other.connections_total),
            connections_reset: combine(self.connections_reset, other.connections_reset),
            connections_cut: combine(self.connections_cut, other.connections_cut),
            connections_refused: combine(self.connections_refused, other.connections_refused),
        }
    }

    /// Bytes swallowed or held in both directions.
    pub fn held_back_bytes(&self) -> u64 {
        self.upstream.held_back_bytes + self.downstream.held_back_bytes
    }

    /// Bytes made to wait in both directions.
    pub fn delayed_bytes(&self) -> u64 {
        self.upstream.delayed_bytes + self.downstream.delayed_bytes
    }
}

/// Of several links together.
impl Add for Traffic {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        self.with(other, u64::wrapping_add)
    }
}

/// Since an earlier look at the same link; connections that are open can have become fewer.
impl Sub for Traffic {
    type Output = Self;

    fn sub(self, earlier: Self) -> Self {
        self.with(earlier, u64::saturating_sub)
    }
}
