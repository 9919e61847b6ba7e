//! What waits before the exit of a stage.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

use super::traffic::Meter;

/// A part of a stream on its way.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece {
    Bytes(Vec<u8>),
    /// The source has no more to say: a FIN.
    End,
    /// The source's socket failed, or a toxic resets the connection: a RST.
    Reset,
    /// A toxic closes the connection, whatever waits to be written.
    Cut,
    /// A toxic closes the connection once all before has been written.
    Close,
    /// A cut point ends the connection once all before has been written: the client sees a reset, the
    /// server a close.
    ResetClient,
}

impl Piece {
    /// Does not wait for a peer that does not read.
    pub fn is_abrupt(&self) -> bool {
        matches!(self, Self::Reset | Self::Cut)
    }
}

/// Pieces in order, each with the time from which it may go on; `None` is never.
#[derive(Debug, Default)]
pub struct Queue {
    pieces: VecDeque<(Option<Instant>, Piece)>,
    waiting_bytes: usize,
    queued_bytes: u64,
}

impl Queue {
    /// An empty queue that remembers how many bytes have gone on from `old`.
    pub fn after(old: &Self) -> Self {
        Self {
            queued_bytes: old.queued_bytes - old.waiting_bytes as u64,
            ..Self::default()
        }
    }

    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    pub fn waiting_bytes(&self) -> usize {
        self.waiting_bytes
    }

    pub fn next_due(&self) -> Option<Instant> {
        self.pieces.front().and_then(|(due, _)| *due)
    }

    pub fn is_next_abrupt(&self) -> bool {
        let next = self.pieces.front();
        next.is_some_and(|(_, piece)| piece.is_abrupt())
    }

    pub fn pop_due(&mut self, now: Instant) -> Option<Piece> {
        if self.next_due()? > now {
            return None;
        }
        let (_, piece) = self.pieces.pop_front()?;
        if let Piece::Bytes(bytes) = &piece {
            self.waiting_bytes -= bytes.len();
        }
        Some(piece)
    }

    pub fn into_pieces(self) -> impl Iterator<Item = Piece> {
        self.pieces.into_iter().map(|(_, piece)| piece)
    }

    fn push(&mut self, due: Option<Instant>, piece: Piece) {
        if let Piece::Bytes(bytes) = &piece {
            self.waiting_bytes += bytes.len();
            self.queued_bytes += bytes.len() as u64;
        }
        // Nothing overtakes what came before it.
        let due = match self.pieces.back() {
            Some((None, _)) => None,
            Some((Some(last), _)) => due.map(|due| due.max(*last)),
            None => due,
        };
        self.pieces.push_back((due, piece));
    }
}

/// Where a stage puts what comes of a piece.
#[derive(Debug)]
pub struct Exit<'a> {
    pub queue: &'a mut Queue,
    pub meter: &'a Meter,
    pub now: Instant,
}

impl Exit<'_> {
    pub fn at_once(&mut self, piece: Piece) {
        self.queue.push(Some(self.now), piece);
    }

    /// A time too far away to be told is never.
    pub fn after(&mut self, delay: Duration, piece: Piece) {
        self.at(self.now.checked_add(delay), piece);
    }

    pub fn at(&mut self, due: Option<Instant>, piece: Piece) {
        if let Piece::Bytes(bytes) = &piece
            && due.is_some_and(|due| due > self.now)
        {
            self.meter.add_delayed(bytes.len());
        }
        self.queue.push(due, piece);
    }

    /// Holds the piece until the toxic is removed.
    pub fn never(&mut self, piece: Piece) {
        if let Piece::Bytes(bytes) = &piece {
            self.meter.add_held_back(bytes.len());
        }
        self.queue.push(None, piece);
    }

    pub fn swallow(&self, bytes: usize) {
        self.meter.add_held_back(bytes);
    }

    /// Forgets what waits.
    pub fn clear(&mut self) {
        *self.queue = Queue::after(self.queue);
    }

    /// Bytes that have entered the queue so far, updates of the toxic included.
    pub fn queued_bytes(&self) -> u64 {
        self.queue.queued_bytes
    }
}
