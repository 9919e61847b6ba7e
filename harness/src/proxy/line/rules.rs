//! What is to happen to the bytes of a link, and how the lines of its connections follow when that changes.

use std::sync::Arc;

use tokio::time::Instant;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::super::queue::{Piece, Queue};
use super::super::stages::{Stage, stage};
use super::super::tap::Tapper;
use super::super::toxic::Toxic;
use super::{Identity, Line, Origin, Post};

/// What can happen to the bytes of a link.
#[derive(Debug, Default)]
pub struct Rules {
    pub toxics: Vec<Toxic>,
    pub tapper: Option<Arc<Tapper>>,
}

impl Line {
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
