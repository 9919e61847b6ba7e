//! The connections: which one takes the next request, and what happens when one ends.
//!
//! A tick fills one connection before the next, so that a server sees few large reads instead of many
//! small ones; the next tick starts with another connection, so that answers do not queue behind
//! each other on a few. A connection that was full takes requests again when half of it is answered:
//! one request for each answer would make a busy server busier, with two system calls a request on either side.

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use mio::{Events, Poll, Token};

use super::clock::Clock;
use super::desk::Desk;
use super::endpoint::Endpoint;
use super::flight::Flight;
use super::inbox::Inbox;
use super::lane::{Lane, Need};
use super::reason::Ending;
use super::waker::Waker;

/// Ready connections looked at in one tick; the rest come with the next.
const EVENTS_PER_TICK: usize = 4_096;
/// A connect costs the machine some 30 µs; a thousand at once would hold up the schedule.
const CONNECTS_PER_TICK: usize = 4;
/// Every connection is looked after (time-out, reconnect) once in this time.
const TEND_NS: i64 = 10_000_000;

/// What the generator waits for.
#[derive(Debug, Clone, Copy)]
pub enum Wait {
    /// This time, whatever comes before.
    Tick(i64),
    /// Anything that comes, at the latest this time.
    Event(i64),
}

impl Wait {
    pub fn until_ns(self) -> i64 {
        match self {
            Self::Tick(at_ns) | Self::Event(at_ns) => at_ns,
        }
    }
}

#[derive(Debug)]
pub struct Pool {
    poll: Poll,
    waker: Waker,
    events: Events,
    inbox: Inbox,
    endpoint: Endpoint,
    depth: usize,
    timeout_ns: i64,
    lanes: Vec<Lane>,
    /// Lanes that may have room; the front one is filled first.
    free: VecDeque<usize>,
    /// Lanes with something to write.
    writing: Vec<usize>,
    /// Lanes that are not open.
    closed: usize,
    /// The lane to tend next, and when the last one was tended.
    tend_at: usize,
    tended_ns: i64,
    /// From sending to answer, for the last one that came.
    answer_took_ns: u64,
}

/// Room for one request on one connection.
#[derive(Debug, Clone, Copy)]
pub struct Place(usize);

impl Pool {
    pub fn new(
        endpoint: Endpoint,
        connections: u32,
        depth: u32,
        timeout_ms: u64,
    ) -> io::Result<Self> {
        let depth = depth as usize;
        let poll = Poll::new()?;
        Ok(Self {
            waker: Waker::new(poll.registry())?,
            poll,
            events: Events::with_capacity(EVENTS_PER_TICK),
            inbox: Inbox::new(),
            endpoint,
            depth,
            timeout_ns: timeout_ms as i64 * 1_000_000,
            lanes: (0..connections).map(|_| Lane::new(depth)).collect(),
            free: VecDeque::with_capacity(connections as usize),
            writing: Vec::with_capacity(connections as usize),
            closed: connections as usize,
            tend_at: 0,
            tended_ns: i64::MIN,
            answer_took_ns: 0,
        })
    }

    /// Reads everything that has come: by the next tick, or as soon as anything comes.
    pub fn receive(&mut self, wait: Wait, clock: &Clock, desk: &mut Desk) -> io::Result<()> {
        let limit = match wait {
            Wait::Tick(at_ns) => {
                clock.sleep_until(at_ns)?;
                Some(Duration::ZERO)
            }
            Wait::Event(at_ns) => {
                self.waker.set(clock.monotonic_ns(at_ns))?;
                None
            }
        };
        match self.poll.poll(&mut self.events, limit) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
            other => other?,
        }
        let events = std::mem::replace(&mut self.events, Events::with_capacity(0));
        for event in events.iter().filter(|event| !Waker::is(event.token())) {
            self.receive_on(event.token().0, event.is_read_closed(), clock, desk);
        }
        self.events = events;
        Ok(())
    }

    /// Events are hints: the lane's connection may be another one than the event was meant for.
    fn receive_on(&mut self, at: usize, closed: bool, clock: &Clock, desk: &mut Desk) {
        let lane = &mut self.lanes[at];
        if lane.connection.is_opening() {
            if !lane.finish_connect(clock.now_ns()) {
                return;
            }
            self.closed -= 1;
        }
        let now_ns = clock.elapsed_ns();
        let mut answers = 0_u32;
        let received = lane
            .connection
            .receive(&mut self.inbox, closed, |flight, status, body| {
                answers += 1;
                self.answer_took_ns = now_ns.saturating_sub(flight.sent_ns);
                desk.answered(flight, status, body, now_ns);
            });
        if answers > 0 {
            lane.answered();
        }
        match received {
            Ok(()) => self.list(at),
            Err(ending) => self.end(at, ending, clock, desk),
        }
    }

    fn list(&mut self, at: usize) {
        let lane = &mut self.lanes[at];
        if !lane.listed && lane.connection.room(self.depth) >= self.depth.div_ceil(2) {
            lane.listed = true;
            self.free.push_back(at);
        }
    }

    /// Every connection stands, and nothing waits to be written.
    pub fn is_settled(&self) -> bool {
        self.closed == 0 && self.writing.is_empty()
    }

    /// No connection stands.
    pub fn is_cut_off(&self) -> bool {
        self.closed == self.lanes.len()
    }

    /// From sending to answer, for the last answer that came.
    pub fn answer_took_ns(&self) -> u64 {
        self.answer_took_ns
    }

    /// For how many requests there is room.
    pub fn room(&self) -> u64 {
        let listed = self.free.iter().map(|at| &self.lanes[*at].connection);
        listed.map(|one| one.room(self.depth) as u64).sum()
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
        let node = u8::try_from(self.endpoint.node(at)).unwrap_or(u8::MAX);
        let lane = &mut self.lanes[at];
        lane.connection.queue(Flight { node, ..flight }, write);
        if !lane.writing {
            lane.writing = true;
            self.writing.push(at);
        }
    }

    /// Writes what was queued, once per connection.
    pub fn flush(&mut self, clock: &Clock, fault_epoch: u16, desk: &mut Desk) {
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
                .flush(clock.elapsed_ns(), fault_epoch, |flight| desk.sent(flight));
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
        for _ in 0..self.due_for_tending(now_ns) {
            let at = self.tend_at;
            self.tend_at = (at + 1) % self.lanes.len();
            match self.lanes[at].need(now_ns, self.timeout_ns) {
                Need::TimeOut => self.end(at, Ending::Timeout, clock, desk),
                Need::GiveUp => self.lanes[at].give_up(now_ns),
                Need::Connect if connects < CONNECTS_PER_TICK => {
                    connects += 1;
                    self.connect(at, now_ns);
                }
                Need::Connect | Need::Nothing => {}
            }
        }
    }

    /// Lanes whose turn has come since the last call.
    fn due_for_tending(&mut self, now_ns: i64) -> usize {
        let since_ns = now_ns.saturating_sub(self.tended_ns).min(TEND_NS);
        let lanes = self.lanes.len() as i64 * since_ns / TEND_NS;
        if lanes > 0 {
            self.tended_ns = now_ns;
        }
        lanes as usize
    }

    fn connect(&mut self, at: usize, now_ns: i64) {
        let lane = &mut self.lanes[at];
        let give_up_at_ns = now_ns + self.timeout_ns;
        let registry = self.poll.registry();
        if lane
            .connect(&self.endpoint, registry, Token(at), give_up_at_ns)
            .is_err()
        {
            lane.give_up(now_ns);
        }
    }

    /// The connection ended; its unanswered requests go with it.
    fn end(&mut self, at: usize, ending: Ending, clock: &Clock, desk: &mut Desk) {
        let now_ns = clock.elapsed_ns();
        self.closed += usize::from(self.lanes[at].connection.is_open());
        for flight in self.lanes[at].end(clock.now_ns()) {
            desk.lost(&flight, ending, now_ns);
        }
    }

    /// Requests that were sent and are not answered.
    pub fn any_outstanding(&self) -> bool {
        self.lanes.iter().any(|lane| lane.connection.is_waiting())
    }
}
