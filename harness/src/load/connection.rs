//! One HTTP/1.1 connection: requests in the order they were sent, answers in the same order.
//!
//! It never retries a request: whatever was handed to it is answered, or lost with the connection.

use std::collections::VecDeque;
use std::io::{self, Read, Write};

use mio::{Registry, Token};

use super::answer::{Parsed, parse};
use super::endpoint::Endpoint;
use super::flight::Flight;
use super::heads::Heads;
use super::inbox::Inbox;
use super::reason::Ending;
use super::wire::{Opening, Wire};

#[derive(Debug)]
pub struct Connection {
    link: Link,
    /// Unanswered requests, the oldest first.
    flights: VecDeque<Flight>,
    /// How many of the youngest have not been written yet.
    unwritten: usize,
    outbox: Vec<u8>,
    /// Bytes of `outbox` that the kernel has taken.
    taken: usize,
    /// Start of an answer whose end has not come.
    leftover: Vec<u8>,
}

#[derive(Debug)]
enum Link {
    Down,
    Opening(Wire),
    Open(Wire),
}

impl Connection {
    pub fn new(depth: usize) -> Self {
        Self {
            link: Link::Down,
            flights: VecDeque::with_capacity(depth),
            unwritten: 0,
            outbox: Vec::new(),
            taken: 0,
            leftover: Vec::new(),
        }
    }

    /// Starts to connect to the node that the token's number goes to; the registry tells under `token` when
    /// there is more to do.
    pub fn connect(
        &mut self,
        endpoint: &Endpoint,
        registry: &Registry,
        token: Token,
    ) -> io::Result<()> {
        let wire = Wire::connect(
            endpoint.address(token.0),
            endpoint.tls.as_ref(),
            registry,
            token,
        )?;
        self.link = Link::Opening(wire);
        Ok(())
    }

    /// Looks whether a connection that was started stands.
    pub fn open(&mut self) -> Opening {
        let mut wire = match std::mem::replace(&mut self.link, Link::Down) {
            Link::Opening(wire) => wire,
            Link::Open(wire) => {
                self.link = Link::Open(wire);
                return Opening::Done;
            }
            Link::Down => return Opening::Failed,
        };
        let opening = wire.open();
        self.link = match opening {
            Opening::Pending => Link::Opening(wire),
            Opening::Done => Link::Open(wire),
            Opening::Failed => Link::Down,
        };
        opening
    }

    /// Drops the connection; gives back the requests that are lost with it.
    pub fn disconnect(&mut self) -> impl Iterator<Item = Flight> {
        self.link = Link::Down;
        self.unwritten = 0;
        self.outbox.clear();
        self.taken = 0;
        self.leftover.clear();
        self.flights.drain(..)
    }

    pub fn is_open(&self) -> bool {
        matches!(self.link, Link::Open(_))
    }

    pub fn is_opening(&self) -> bool {
        matches!(self.link, Link::Opening(_))
    }

    /// Open, and fewer than `depth` requests unanswered.
    pub fn has_room(&self, depth: usize) -> bool {
        self.room(depth) > 0
    }

    /// Requests that may be added to make `depth` unanswered ones.
    pub fn room(&self, depth: usize) -> usize {
        if self.is_open() {
            depth.saturating_sub(self.flights.len())
        } else {
            0
        }
    }

    /// Some request is unanswered.
    pub fn is_waiting(&self) -> bool {
        !self.flights.is_empty()
    }

    /// When the oldest unanswered request was written.
    pub fn oldest_sent_ns(&self) -> Option<u64> {
        let oldest = self.flights.front()?;
        (self.flights.len() > self.unwritten).then_some(oldest.sent_ns)
    }

    /// Queues a request; `write` appends its bytes.
    pub fn queue(&mut self, flight: Flight, write: impl FnOnce(&mut Vec<u8>)) {
        self.flights.push_back(flight);
        self.unwritten += 1;
        write(&mut self.outbox);
    }

    /// Writes what is queued, all of it at once if the kernel takes it. The requests
    /// count as sent at `now_ns` in `fault_epoch`; `sent` sees each. False: some bytes must wait.
    pub fn flush(
        &mut self,
        now_ns: u64,
        fault_epoch: u16,
        mut sent: impl FnMut(&Flight),
    ) -> Result<bool, Ending> {
        let from = self.flights.len() - self.unwritten;
        for flight in self.flights.range_mut(from..) {
            flight.sent_ns = now_ns;
            flight.fault_epoch = fault_epoch;
            sent(flight);
        }
        self.unwritten = 0;
        let Link::Open(wire) = &mut self.link else {
            return Err(Ending::Reset);
        };
        while self.taken < self.outbox.len() {
            match wire.write(&self.outbox[self.taken..]) {
                Ok(0) => return Err(Ending::Reset),
                Ok(written) => self.taken += written,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Err(Ending::Reset),
            }
        }
        self.outbox.clear();
        self.taken = 0;
        match wire.flush() {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(_) => Err(Ending::Reset),
        }
    }

    /// Reads what has come and hands over each whole answer with its request, status and body. `drain`:
    /// go on to the very end, because the server has closed.
    pub fn receive(
        &mut self,
        inbox: &mut Inbox,
        drain: bool,
        mut answered: impl FnMut(&Flight, u16, &[u8]),
    ) -> Result<(), Ending> {
        loop {
            let Link::Open(wire) = &mut self.link else {
                return Ok(());
            };
            let space = inbox.begin(&self.leftover);
            let space_len = space.len();
            let short_is_all = wire.short_read_is_all() && !drain;
            let count = match wire.read(space) {
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => return Err(Ending::Reset),
            };
            let (received, heads) = inbox.received(self.leftover.len() + count);
            self.take_answers(received, heads, count == 0, &mut answered)?;
            // A short read has emptied the socket; asking again would only be told so.
            if count < space_len && short_is_all {
                return Ok(());
            }
        }
    }

    fn take_answers(
        &mut self,
        received: &mut [u8],
        heads: &mut Heads,
        ended: bool,
        answered: &mut impl FnMut(&Flight, u16, &[u8]),
    ) -> Result<(), Ending> {
        let mut at = 0;
        while at < received.len() {
            let rest = &mut received[at..];
            match parse(rest, ended, heads) {
                Parsed::Whole(answer) => {
                    let flight = self.flights.pop_front().ok_or(Ending::BadAnswer)?;
                    answered(&flight, answer.status, &rest[answer.body]);
                    if answer.closes {
                        return Err(Ending::Closed);
                    }
                    at += answer.len;
                }
                Parsed::Partial if ended => return Err(Ending::HalfAnswer),
                Parsed::Partial => break,
                Parsed::Bad => return Err(Ending::BadAnswer),
            }
        }
        if ended {
            return Err(Ending::Closed);
        }
        self.leftover.clear();
        self.leftover.extend_from_slice(&received[at..]);
        Ok(())
    }
}
