//! Live byte counters: the proof that a link carried traffic and that a fault bit.

use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use super::toxic::Stream;

/// Counters of one direction of one link, all its connections together.
#[derive(Debug, Default)]
pub struct Counter {
    forwarded: AtomicU64,
    held_back: AtomicU64,
}

impl Counter {
    pub fn add_forwarded(&self, bytes: usize) {
        self.forwarded.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub fn add_held_back(&self, bytes: usize) {
        self.held_back.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    fn read(&self) -> DirectionTraffic {
        DirectionTraffic {
            forwarded_bytes: self.forwarded.load(Ordering::Relaxed),
            held_back_bytes: self.held_back.load(Ordering::Relaxed),
        }
    }
}

/// Counters of one link.
#[derive(Debug, Default)]
pub struct Counters {
    upstream: Counter,
    downstream: Counter,
    pub connections_open: AtomicU64,
    pub connections_total: AtomicU64,
}

impl Counters {
    pub fn of(&self, stream: Stream) -> &Counter {
        match stream {
            Stream::Upstream => &self.upstream,
            Stream::Downstream => &self.downstream,
        }
    }

    pub fn read(&self) -> Traffic {
        Traffic {
            upstream: self.upstream.read(),
            downstream: self.downstream.read(),
            connections_open: self.connections_open.load(Ordering::Relaxed),
            connections_total: self.connections_total.load(Ordering::Relaxed),
        }
    }
}

/// What one direction has carried since the link was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirectionTraffic {
    pub forwarded_bytes: u64,
    /// Swallowed by a black hole.
    pub held_back_bytes: u64,
}

/// `GET /proxies/{name}/traffic`, an addition to Toxiproxy's API.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traffic {
    pub upstream: DirectionTraffic,
    pub downstream: DirectionTraffic,
    pub connections_open: u64,
    pub connections_total: u64,
}

impl Traffic {
    /// Bytes swallowed in both directions.
    pub fn held_back_bytes(&self) -> u64 {
        self.upstream.held_back_bytes + self.downstream.held_back_bytes
    }
}
