//! Cut points: a connection is cut, or its traffic changed, at a place that the protocol names: the reply to the
//! third EVALSHA, the next COMMIT, a transaction's end at the broker.
//!
//! The parsers ([`resp`], [`mysql`], [`remoting`]) are pure: bytes in, in chunks of any size, what was said out. What
//! they do not understand makes them deaf for the rest of the connection, and every byte passes untouched. A
//! connection is followed from its first byte if its link had a protocol when it opened; later, MySQL and `RocketMQ`
//! are joined at the next whole message, and RESP, where nothing tells how many replies are due, is not.
//!
//! By the same parsers a link rewrites addresses ([`Rewrites`]): not a fault, but a part of where it leads.
//!
//! Owns the parsers, the cut points of a link and the cutter of each connection. Knows no sockets.

mod cuts;
pub mod cutter;
pub mod mysql;
mod of_link;
mod ordered;
pub mod point;
pub mod remoting;
pub mod resp;

pub use cuts::Cuts;
pub use cutter::{Cutter, Passed};
pub use point::{Action, Cut, CutView, FollowRequest, Protocol, Then};
pub use remoting::Rewrites;

/// Bytes that are not the protocol's, or a part of it that is not followed (a subscription, TLS). A parser that
/// said so must not be fed again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Strange;

/// What a parser of a protocol with replies in order tells of the client's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked<'b> {
    /// The command, as the client wrote it.
    pub word: &'b [u8],
    /// What it is about: its first key. Empty where there is none.
    pub key: &'b [u8],
    /// Its first byte after the request, counted in this chunk.
    pub end: usize,
}

/// What such a parser tells of the server's bytes, which answer the requests in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answered {
    /// A reply begins at this offset of the chunk; it is one of success, or an error.
    Starts { at: usize, is_ok: bool },
    /// It ends before this offset.
    Ends { at: usize },
}

/// A protocol whose replies come in the order of the requests.
pub trait Conversation {
    /// Whether it is known where requests and replies begin. Not yet, when it was joined midway.
    fn is_following(&self) -> bool;

    /// Reads what the client sent.
    ///
    /// # Errors
    /// [`Strange`]: the bytes cannot be followed; what was told before them holds.
    fn client_sent(&mut self, bytes: &[u8], hear: impl FnMut(Asked<'_>)) -> Result<(), Strange>;

    /// Reads what the server sent.
    ///
    /// # Errors
    /// As [`Conversation::client_sent`].
    fn server_sent(&mut self, bytes: &[u8], hear: impl FnMut(Answered)) -> Result<(), Strange>;
}
