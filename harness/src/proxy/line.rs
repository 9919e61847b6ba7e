//! One direction of one connection as a row of stages, and what has come out of them.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::time::Instant;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::queue::{Exit, Piece, Queue};
use super::stages::{Stage, stage};
use super::tap::{TapSlot, Tapper};
use super::toxic::Toxic;
use super::traffic::Meter;

/// What can happen to the bytes of a link.
#[derive(Debug, Default)]
pub struct Rules {
    pub toxics: Vec<Toxic>,
    pub tapper: Option<Arc<Tapper>>,
}

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

    /// Changes the stages to what the link's rules are now. What a removed stage held goes on; a toxic
    /// that was updated takes anew what it held.
    pub fn follow(&mut self, rules: &Rules) {
        let now = Instant::now();
        for at in (0..self.posts.len()).rev() {
            if !self.is_wanted(&self.posts[at].origin, rules) {
                self.remove(at, now);
            }
        }
        if let Some(tapper) = &rules.tapper
            && !self
                .posts
                .iter()
                .any(|p| matches!(p.origin, Origin::Tap(_)))
        {
            let stage = self.taps.stage(tapper, self.identity.client, &self.meter);
            self.insert(0, Origin::Tap(Arc::clone(tapper)), stage, now);
        }
        for toxic in &rules.toxics {
            if self.is_hit_by(toxic) {
                self.apply(toxic, now);
            }
        }
    }

    /// Places the toxic last, or in place of its older self.
    fn apply(&mut self, toxic: &Toxic, now: Instant) {
        let seed = self.identity.seed ^ self.identity.connection.rotate_left(32);
        let seed = xxh3_64_with_seed(toxic.name.as_bytes(), seed ^ self.meter.stream as u64);
        let Some(stage) = stage(toxic.effect, seed) else {
            return;
        };
        let placed = self.posts.iter().enumerate().find_map(|(at, post)| {
            let Origin::Toxic(placed) = &post.origin else {
                return None;
            };
            (placed.name == toxic.name).then_some((at, placed.effect))
        });
        match placed {
            None => self.insert(self.posts.len(), Origin::Toxic(toxic.clone()), stage, now),
            Some((at, effect)) if effect != toxic.effect => self.replace(at, toxic, stage, now),
            Some(_) => {}
        }
    }

    fn insert(&mut self, at: usize, origin: Origin, stage: Box<dyn Stage>, now: Instant) {
        let queue = Queue::default();
        self.posts.insert(
            at,
            Post {
                origin,
                stage,
                queue,
            },
        );
        self.begin(at, now);
    }

    fn replace(&mut self, at: usize, toxic: &Toxic, stage: Box<dyn Stage>, now: Instant) {
        let post = &mut self.posts[at];
        post.origin = Origin::Toxic(toxic.clone());
        post.stage = stage;
        let queue = Queue::after(&post.queue);
        let held = std::mem::replace(&mut post.queue, queue);
        self.begin(at, now);
        for piece in held.into_pieces().filter(|piece| *piece != Piece::Cut) {
            self.enter(at, piece, now);
        }
    }

    fn remove(&mut self, at: usize, now: Instant) {
        let Post { stage, queue, .. } = self.posts.remove(at);
        if stage.has_swallowed() {
            self.ready.push_back(Piece::Cut);
            return;
        }
        for piece in queue.into_pieces() {
            self.enter(at, piece, now);
        }
    }

    fn begin(&mut self, at: usize, now: Instant) {
        let (stage, mut exit) = self.post(at, now);
        stage.begin(&mut exit);
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

    fn is_hit_by(&self, toxic: &Toxic) -> bool {
        let Identity {
            seed,
            connection,
            client,
        } = self.identity;
        toxic.stream == self.meter.stream && toxic.hits(seed, connection, client.ip())
    }

    fn is_wanted(&self, origin: &Origin, rules: &Rules) -> bool {
        match origin {
            Origin::Tap(placed) => rules
                .tapper
                .as_ref()
                .is_some_and(|tapper| Arc::ptr_eq(tapper, placed)),
            Origin::Toxic(placed) => rules
                .toxics
                .iter()
                .any(|toxic| toxic.name == placed.name && self.is_hit_by(toxic)),
        }
    }
}
