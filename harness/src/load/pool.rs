//! The connections: which one takes the next request, and what happens when one ends.
//!
//! A tick fills one connection before the next, so that a server sees few large reads instead of many
//! small ones; the next tick starts with another connection, so that answers do not queue behind
//! each other on a few.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use mio::{Events, Poll, Token};

use super::clock::Clock;
use super::connection::{Connect, Connection};
use super::desk::Desk;
use super::flight::Flight;
use super::inbox::Inbox;
use super::reason::Ending;

/// Ready connections looked at in one tick; the rest come with the next.
const EVENTS_PER_TICK: usize = 4_096;
/// A connect costs the machine some 30 µs; a thousand at once would hold up the schedule.
const CONNECTS_PER_TICK: usize = 4;
/// Every connection is looked after (time-out, reconnect) once in so many ticks: 10 ms.
const TEND_TICKS: usize = 100;
const BACK_OFF_NS: i64 = 10_000_000;
/// 10 ms times 2 to this power: 640 ms.
const BACK_OFF_DOUBLINGS: u32 = 6;

#[derive(Debug)]
pub struct Pool {
    poll: Poll,
    events: Events,
    inbox: Inbox,
    address: SocketAddr,
    depth: usize,
    timeout_ns: i64,
    lanes: Vec<Lane>,
    /// Lanes that may have room; the front one is filled first.
    free: VecDeque<usize>,
    /// Lanes with something to write.
    writing: Vec<usize>,
    /// The lane to tend next.
    tend_at: usize,
}

/// A place for one connection.
#[derive(Debug)]
struct Lane {
    connection: Connection,
    /// In `free`.
    listed: bool,
    /// In `writing`.
    writing: bool,
    /// Endings without a single answer in between. A proxy whose server is dead accepts and closes,
    /// so that a connect alone is no success.
    failures: u32,
    /// Down: when to connect. Connecting: when to give up.
    act_at_ns: i64,
}

/// Room for one request on one connection.
#[derive(Debug)]
pub struct Place(usize);

impl Pool {
    pub fn new(
        address: SocketAddr,
        connections: u32,
        depth: u32,
        timeout_ms: u64,
    ) -> io::Result<Self> {
        let depth = depth as usize;
        let lane = |_| Lane {
            connection: Connection::new(depth),
            listed: false,
            writing: false,
            failures: 0,
            act_at_ns: i64::MIN,
        };
        Ok(Self {
            poll: Poll::new()?,
            events: Events::with_capacity(EVENTS_PER_TICK),
            inbox: Inbox::new(),
            address,
            depth,
            timeout_ns: timeout_ms as i64 * 1_000_000,
            lanes: (0..connections).map(lane).collect(),
            free: VecDeque::with_capacity(connections as usize),
            writing: Vec::with_capacity(connections as usize),
            tend_at: 0,
        })
    }

    /// Reads everything that has come, without waiting.
    pub fn receive(&mut self, clock: &Clock, desk: &mut Desk) -> io::Result<()> {
        match self.poll.poll(&mut self.events, Some(Duration::ZERO)) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
            other => other?,
        }
        let events = std::mem::replace(&mut self.events, Events::with_capacity(0));
        for event in &events {
            self.receive_on(event.token().0, event.is_read_closed(), clock, desk);
        }
        self.events = events;
        Ok(())
    }

    /// Events are hints: the lane's connection may be another one than the event was meant for.
    fn receive_on(&mut self, at: usize, closed: bool, clock: &Clock, desk: &mut Desk) {
        if self.lanes[at].connection.is_connecting() && !self.finish_connect(at, clock) {
            return;
        }
        let lane = &mut self.lanes[at];
        let failures = &mut lane.failures;
        let now_ns = clock.elapsed_ns();
        let received = lane
            .connection
            .receive(&mut self.inbox, closed, |flight, status, body| {
                *failures = 0;
                desk.answered(flight, status, body, now_ns);
            });
        match received {
            Ok(()) => self.list(at),
            Err(ending) => self.end(at, ending, clock, desk),
        }
    }

    /// True: the connection stands.
    fn finish_connect(&mut self, at: usize, clock: &Clock) -> bool {
        match self.lanes[at].connection.connected() {
            Connect::Pending => false,
            Connect::Failed => {
                self.back_off(at, clock.now_ns());
                false
            }
            Connect::Done => {
                // Until the first answer; see `Lane::failures`.
                self.lanes[at].failures += 1;
                true
            }
        }
    }

    fn list(&mut self, at: usize) {
        let lane = &mut self.lanes[at];
        if !lane.listed && lane.connection.has_room(self.depth) {
            lane.listed = true;
            self.free.push_back(at);
        }
    }

    /// The connection whose turn it is; None: no connection has room.
    pub fn place(&mut self) -> Option<Place> {
        while let Some(&at) = self.free.front() {
            let lane = &mut self.lanes[at];
            if lane.connection.has_room(self.depth) {
                return Some(Place(at));
            }
            lane.listed = false;
            self.free.pop_front();
        }
        None
    }

    /// Queues a request on the connection that was just found to have room.
    pub fn queue(&mut self, place: Place, flight: Flight, write: impl FnOnce(&mut Vec<u8>)) {
        let Place(at) = place;
        let lane = &mut self.lanes[at];
        lane.connection.queue(flight, write);
        if !lane.writing {
            lane.writing = true;
            self.writing.push(at);
        }
    }

    /// Writes what was queued, once per connection.
    pub fn flush(&mut self, clock: &Clock, desk: &mut Desk) {
        if self.writing.is_empty() {
            return;
        }
        self.pass_the_turn();
        let mut still = 0;
        for place in 0..self.writing.len() {
            let at = self.writing[place];
            let lane = &mut self.lanes[at];
            let flushed = lane
                .connection
                .flush(clock.elapsed_ns(), |flight| desk.sent(flight));
            lane.writing = matches!(flushed, Ok(false));
            match flushed {
                Ok(true) => {}
                Ok(false) => {
                    self.writing[still] = at;
                    still += 1;
                }
                Err(ending) => self.end(at, ending, clock, desk),
            }
        }
        self.writing.truncate(still);
    }

    /// The connection in front has had its tick.
    fn pass_the_turn(&mut self) {
        if let Some(&front) = self.free.front()
            && self.lanes[front].writing
        {
            self.free.rotate_left(1);
        }
    }

    /// Times out and reconnects; a share of the connections each tick.
    pub fn tend(&mut self, clock: &Clock, desk: &mut Desk) {
        let now_ns = clock.now_ns();
        let mut connects = 0;
        for _ in 0..self.lanes.len().div_ceil(TEND_TICKS) {
            let at = self.tend_at;
            self.tend_at = (at + 1) % self.lanes.len();
            let lane = &mut self.lanes[at];
            let due = now_ns >= lane.act_at_ns;
            if lane.connection.is_open() {
                let oldest = lane.connection.oldest_sent_ns();
                if oldest.is_some_and(|sent_ns| now_ns >= sent_ns as i64 + self.timeout_ns) {
                    self.end(at, Ending::Timeout, clock, desk);
                }
            } else if lane.connection.is_connecting() {
                if due {
                    self.back_off(at, now_ns);
                }
            } else if due && connects < CONNECTS_PER_TICK {
                connects += 1;
                self.connect(at, now_ns);
            }
        }
    }

    fn connect(&mut self, at: usize, now_ns: i64) {
        let lane = &mut self.lanes[at];
        lane.act_at_ns = now_ns + self.timeout_ns;
        let started = lane
            .connection
            .connect(self.address, self.poll.registry(), Token(at));
        if started.is_err() {
            self.back_off(at, now_ns);
        }
    }

    /// The connection ended; its unanswered requests go with it.
    fn end(&mut self, at: usize, ending: Ending, clock: &Clock, desk: &mut Desk) {
        let now_ns = clock.elapsed_ns();
        let lane = &mut self.lanes[at];
        for flight in lane.connection.disconnect() {
            desk.lost(&flight, ending, now_ns);
        }
        if lane.failures == 0 {
            lane.act_at_ns = i64::MIN;
        } else {
            self.wait(at, clock.now_ns());
        }
    }

    /// A connect failed.
    fn back_off(&mut self, at: usize, now_ns: i64) {
        let lane = &mut self.lanes[at];
        lane.failures += 1;
        // There is nothing in flight on a connection that never stood.
        drop(lane.connection.disconnect());
        self.wait(at, now_ns);
    }

    fn wait(&mut self, at: usize, now_ns: i64) {
        let lane = &mut self.lanes[at];
        let doublings = lane.failures.saturating_sub(1).min(BACK_OFF_DOUBLINGS);
        lane.act_at_ns = now_ns + (BACK_OFF_NS << doublings);
    }

    /// Requests that were sent and are not answered.
    pub fn any_outstanding(&self) -> bool {
        self.lanes.iter().any(|lane| lane.connection.is_waiting())
    }
}
