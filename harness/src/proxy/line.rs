//! One direction of one connection as a row of stages, and what has come out of them.

mod rules;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::time::Instant;

pub use self::rules::Rules;
use super::queue::{Exit, Piece, Queue};
use super::stages::Stage;
use super::tap::{TapSlot, Tapper};
use super::toxic::Toxic;
use super::traffic::Meter;

/// Which connection of which link, as the dice and the taps need it.
#[derive(Debug, Clone)]
pub struct Identity {
    pub seed: u64,
    pub connection: u64,
    pub client: SocketAddr,
}

/// Why a stage is there.
#[derive(Debug)]
enum Origin {
    Tap(Arc<Tapper>),
    Toxic(Toxic),
}

#[derive(Debug)]
struct Post {
    origin: Origin,
    stage: Box<dyn Stage>,
    queue: Queue,
}

impl Post {
    fn has_room(&self) -> bool {
        self.queue.waiting_bytes() < self.stage.room_bytes()
    }
}

/// Bytes go in at [`Line::arrive`] and come out at [`Line::ready`].
#[derive(Debug)]
pub struct Line {
    identity: Identity,
    taps: Arc<TapSlot>,
    meter: Meter,
    posts: Vec<Post>,
    ready: VecDeque<Piece>,
}

impl Line {
    pub fn new(identity: Identity, taps: Arc<TapSlot>, meter: Meter) -> Self {
        Self {
            identity,
            taps,
            meter,
            posts: Vec::new(),
            ready: VecDeque::new(),
        }
    }

    pub fn meter(&self) -> &Meter {
        &self.meter
    }

    /// Answers whether the bytes may be written as they are, at once: nothing is done to this direction, and nothing
    /// waits. Otherwise it has taken them.
    pub fn take_bytes(&mut self, bytes: &[u8]) -> bool {
        let nothing_waits = self.ready.is_empty();
        match &self.posts[..] {
            [] if nothing_waits => return true,
            [only] if nothing_waits && only.queue.is_empty() => {
                let (stage, mut exit) = self.post(0, Instant::now());
                return stage.take_bytes(bytes, &mut exit);
            }
            _ => {}
        }
        self.arrive(Piece::Bytes(bytes.to_vec()));
        false
    }

    pub fn has_room(&self) -> bool {
        self.posts
            .first()
            .map_or(self.ready.is_empty(), Post::has_room)
    }

    pub fn arrive(&mut self, piece: Piece) {
        self.enter(0, piece, Instant::now());
    }

    /// What is to be written next.
    pub fn ready(&mut self) -> &mut VecDeque<Piece> {
        &mut self.ready
    }

    /// Moves on what is due.
    pub fn advance(&mut self) {
        if self.posts.is_empty() {
            return;
        }
        let now = Instant::now();
        for at in 0..self.posts.len() {
            while self.may_leave(at)
                && let Some(piece) = self.posts[at].queue.pop_due(now)
            {
                self.enter(at + 1, piece, now);
            }
        }
    }

    /// When [`Line::advance`] has something to do.
    pub fn next_due(&self) -> Option<Instant> {
        let open = (0..self.posts.len()).filter(|at| self.may_leave(*at));
        open.filter_map(|at| self.posts[at].queue.next_due()).min()
    }

    fn enter(&mut self, at: usize, piece: Piece, now: Instant) {
        if at == self.posts.len() {
            self.ready.push_back(piece);
        } else {
            let (stage, mut exit) = self.post(at, now);
            stage.take(piece, &mut exit);
        }
    }

    fn post(&mut self, at: usize, now: Instant) -> (&mut dyn Stage, Exit<'_>) {
        let post = &mut self.posts[at];
        let exit = Exit {
            queue: &mut post.queue,
            meter: &self.meter,
            now,
        };
        (&mut *post.stage, exit)
    }

    fn may_leave(&self, at: usize) -> bool {
        let next = self.posts.get(at + 1);
        next.map_or(self.ready.is_empty(), Post::has_room) || self.posts[at].queue.is_next_abrupt()
    }
}
