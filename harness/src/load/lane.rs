//! A place for one connection: connects, waits before it tries again, and tells when time is up.

use std::io;

use mio::{Registry, Token};

use super::connection::Connection;
use super::endpoint::Endpoint;
use super::flight::Flight;
use super::wire::Opening;

const BACK_OFF_NS: i64 = 10_000_000;
/// 10 ms times 2 to this power: 640 ms.
const BACK_OFF_DOUBLINGS: u32 = 6;

#[derive(Debug)]
pub struct Lane {
    pub connection: Connection,
    /// The pool has it on its list of those that may have room.
    pub listed: bool,
    /// The pool has it on its list of those with something to write.
    pub writing: bool,
    /// Endings without a single answer in between. A proxy whose server is dead accepts and closes,
    /// so that a connect alone is no success.
    failures: u32,
    /// Down: when to connect. Connecting: when to give up.
    act_at_ns: i64,
}

/// What a lane needs now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    Nothing,
    Connect,
    /// Connecting takes too long.
    GiveUp,
    /// The oldest request has waited too long.
    TimeOut,
}

impl Lane {
    pub fn new(depth: usize) -> Self {
        Self {
            connection: Connection::new(depth),
            listed: false,
            writing: false,
            failures: 0,
            act_at_ns: i64::MIN,
        }
    }

    pub fn need(&self, now_ns: i64, timeout_ns: i64) -> Need {
        let due = now_ns >= self.act_at_ns;
        if self.connection.is_open() {
            let oldest = self.connection.oldest_sent_ns();
            match oldest {
                Some(sent_ns) if now_ns >= sent_ns as i64 + timeout_ns => Need::TimeOut,
                Some(_) | None => Need::Nothing,
            }
        } else if !due {
            Need::Nothing
        } else if self.connection.is_opening() {
            Need::GiveUp
        } else {
            Need::Connect
        }
    }

    /// Starts to connect, to be given up at `give_up_at_ns`.
    pub fn connect(
        &mut self,
        endpoint: &Endpoint,
        registry: &Registry,
        token: Token,
        give_up_at_ns: i64,
    ) -> io::Result<()> {
        self.act_at_ns = give_up_at_ns;
        self.connection.connect(endpoint, registry, token)
    }

    /// True: the connection that was started stands.
    pub fn finish_connect(&mut self, now_ns: i64) -> bool {
        match self.connection.open() {
            Opening::Pending => false,
            Opening::Failed => {
                self.give_up(now_ns);
                false
            }
            Opening::Done => {
                // Taken back by the first answer.
                self.failures += 1;
                true
            }
        }
    }

    /// An answer came.
    pub fn answered(&mut self) {
        self.failures = 0;
    }

    /// The connection never stood: nothing is in flight on it.
    pub fn give_up(&mut self, now_ns: i64) {
        self.failures += 1;
        drop(self.end(now_ns));
    }

    /// The connection is over; gives back the requests that are lost with it. It is replaced at once
    /// if it had answered anything, else after a while.
    pub fn end(&mut self, now_ns: i64) -> impl Iterator<Item = Flight> {
        self.act_at_ns = match self.failures {
            0 => now_ns,
            failures => now_ns + (BACK_OFF_NS << (failures - 1).min(BACK_OFF_DOUBLINGS)),
        };
        self.connection.disconnect()
    }
}
