//! `RocketMQ`'s remoting protocol: frames with a header, answers matched to requests by a number (`opaque`), in any
//! order. Source: `RemotingCommand`, `RocketMQSerializable` and `RequestCode` of Apache `RocketMQ` 5.3.3.
//!
//! While the link has no cut and rewrites nothing, only the lengths of the frames are followed. Otherwise frames are
//! held until they are complete, so that one can be taken out or changed.

pub mod code;
mod fields;
mod frames;
mod header;
mod repeat;
mod rewrites;

use std::collections::HashMap;

pub use self::frames::{Frames, Piece};
#[cfg(test)]
pub(super) use self::header::testing;
pub use self::header::{Header, Serialization};
use self::repeat::{Pull, Rewinds};
pub use self::rewrites::Rewrites;
use super::cuts::{CutId, Cuts, Moment};
use super::point::{Action, Then};

/// Requests of one connection whose answers are waited for; the answers to later ones are not looked at.
const AWAITED_MAX: usize = 1 << 16;

/// Both directions of one connection.
#[derive(Debug, Default)]
pub(super) struct Remoting {
    client: Frames,
    server: Frames,
    awaited: HashMap<i32, Awaited>,
    rewinds: Rewinds,
    repeated: i32,
}

/// What is to be done with an answer.
#[derive(Debug)]
enum Awaited {
    /// A cut wants to see it, or it is to be changed.
    Look { word: String },
    /// The same for a pull.
    Pulled(Pull),
    /// The client did not ask for it.
    Swallow(CutId),
}

/// What becomes of a chunk.
#[derive(Debug, Default)]
pub(super) struct Changed {
    /// Everything that passes.
    pub bytes: Vec<u8>,
    /// What never does.
    pub lost_bytes: usize,
    pub then: Option<Then>,
    /// Frames that go their own way, and after how many milliseconds.
    pub late: Vec<(u64, Vec<u8>)>,
}

impl Remoting {
    /// Joins a connection that is not fresh.
    pub fn of(is_fresh: bool) -> Self {
        if is_fresh {
            return Self::default();
        }
        Self {
            client: Frames::joining(),
            server: Frames::joining(),
            ..Self::default()
        }
    }

    pub fn is_following(&self) -> bool {
        self.client.is_following() && self.server.is_following()
    }

    /// `None`: the chunk passes as it is.
    pub fn client_sent(&mut self, bytes: &[u8], cuts: &Cuts) -> Option<Changed> {
        let hold = cuts.concern_frames() && !self.is_lost();
        let mut frames = std::mem::take(&mut self.client);
        let changed = change(&mut frames, bytes, hold, |frame, changed| {
            self.request(frame, cuts, changed);
        });
        self.client = frames;
        changed
    }

    /// As [`Remoting::client_sent`].
    pub fn server_sent(&mut self, bytes: &[u8], cuts: &Cuts) -> Option<Changed> {
        let hold = cuts.concern_frames() && !self.is_lost();
        let mut frames = std::mem::take(&mut self.server);
        let changed = change(&mut frames, bytes, hold, |frame, changed| {
            self.answer(frame, cuts, changed);
        });
        self.server = frames;
        changed
    }

    /// One direction cannot be followed any more; nothing is held from now on.
    fn is_lost(&self) -> bool {
        self.client.is_lost() || self.server.is_lost()
    }

    /// What was held of an unfinished frame of the client, or of the server.
    pub fn take_held(&mut self, is_client: bool) -> Vec<u8> {
        if is_client {
            self.client.take_held()
        } else {
            self.server.take_held()
        }
    }

    fn request(&mut self, frame: &[u8], cuts: &Cuts, changed: &mut Changed) {
        let Some(header) = Header::read(frame).filter(|header| !header.is_answer()) else {
            return changed.bytes.extend_from_slice(frame);
        };
        let word = code::name(header.code);
        let rewound = self.pulled(frame, header, &word, cuts);
        let frame = rewound.as_deref().unwrap_or(frame);
        match cuts.choose(Moment::Request, word.as_bytes(), b"") {
            Some((id, Action::Drop)) => {
                changed.lost_bytes += frame.len();
                return cuts.fired(id);
            }
            Some((id, Action::Delay { delay_ms })) if header.is_one_way() => {
                cuts.fired(id);
                return changed.late.push((delay_ms, frame.to_vec()));
            }
            Some((id, Action::Twice)) => {
                let opaque = self.opaque_of_repeat();
                if let Some(again) = header.with_opaque(frame, opaque) {
                    changed.bytes.extend_from_slice(frame);
                    self.awaited.insert(opaque, Awaited::Swallow(id));
                    return changed.bytes.extend(again);
                }
            }
            Some((id, Action::Close)) => {
                cuts.fired(id);
                changed.then = Some(Then::Reset);
            }
            _ => {}
        }
        changed.bytes.extend_from_slice(frame);
        if self.awaited.len() < AWAITED_MAX
            && !self.awaited.contains_key(&header.opaque)
            && (cuts.rewrites.concern(&word) || cuts.awaits_reply(word.as_bytes(), b""))
        {
            self.awaited.insert(header.opaque, Awaited::Look { word });
        }
    }

    /// A pull that is to be made again is changed here; one whose answer matters is remembered.
    fn pulled(&mut self, frame: &[u8], header: Header, word: &str, cuts: &Cuts) -> Option<Vec<u8>> {
        if word != code::PULL_MESSAGE || !cuts.has_any() {
            return None;
        }
        let pull = Pull::read(frame)?;
        let rewound = self.rewinds.apply(&pull, frame, cuts);
        if self.awaited.len() < AWAITED_MAX && cuts.awaits_reply(word.as_bytes(), b"") {
            self.awaited.insert(header.opaque, Awaited::Pulled(pull));
        }
        rewound
    }

    /// No client counts down from the lowest number.
    fn opaque_of_repeat(&mut self) -> i32 {
        self.repeated = self.repeated.wrapping_add(1) & i32::MAX;
        i32::MIN + self.repeated
    }

    fn answer(&mut self, frame: &[u8], cuts: &Cuts, changed: &mut Changed) {
        let answer = Header::read(frame).filter(Header::is_answer);
        let Some((header, awaited)) =
            answer.and_then(|header| Some((header, self.awaited.remove(&header.opaque)?)))
        else {
            return changed.bytes.extend_from_slice(frame);
        };
        let choose = |word: &str| {
            let is_ok = header.code == code::SUCCESS;
            is_ok.then(|| cuts.choose(Moment::Reply, word.as_bytes(), b""))?
        };
        let (word, pull) = match awaited {
            Awaited::Swallow(id) => return cuts.fired(id),
            Awaited::Look { word } => (word, None),
            Awaited::Pulled(pull) => (code::PULL_MESSAGE.to_owned(), Some(pull)),
        };
        match (choose(&word), pull) {
            (Some((id, Action::LoseReply { then })), _) => {
                cuts.fired(id);
                changed.lost_bytes += frame.len();
                changed.then = Some(then);
                return;
            }
            (Some((id, Action::Twice)), Some(pull)) => self.rewinds.add(pull, id),
            _ => {}
        }
        let concerns = cuts.rewrites.concern(&word);
        let rewritten = concerns.then(|| cuts.rewrites.apply(frame)).flatten();
        changed
            .bytes
            .extend_from_slice(rewritten.as_deref().unwrap_or(frame));
    }
}

/// Nothing passes after a frame with which the connection ends.
fn change(
    frames: &mut Frames,
    bytes: &[u8],
    hold: bool,
    mut each: impl FnMut(&[u8], &mut Changed),
) -> Option<Changed> {
    if !hold && !frames.is_holding() {
        frames.follow(bytes);
        return None;
    }
    let mut changed = Changed::default();
    frames.read(bytes, hold, |piece| {
        if changed.then.is_some() {
            return;
        }
        match piece {
            Piece::Frame(frame) => each(frame, &mut changed),
            Piece::Part(part) => changed.bytes.extend_from_slice(part),
        }
    });
    Some(changed)
}
