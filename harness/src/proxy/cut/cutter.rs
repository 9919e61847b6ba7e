//! What one connection's bytes pass through when its link has a protocol.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::super::toxic::Stream;
use super::cuts::Cuts;
use super::mysql::Mysql;
use super::ordered::{Ordered, Passing};
use super::point::{Protocol, Then};
use super::remoting::{Changed, Remoting};
use super::resp::Resp;
use super::{Conversation, Strange};

/// Listens to both directions of one connection, and says what passes.
#[derive(Debug)]
pub struct Cutter {
    dialect: Dialect,
    cuts: Arc<Cuts>,
    /// The connection counts as followed.
    is_followed: bool,
    /// Nothing passes any more.
    is_cut: bool,
}

#[derive(Debug)]
enum Dialect {
    Resp(Box<Ordered<Resp>>),
    Mysql(Box<Ordered<Mysql>>),
    Remoting(Box<Remoting>),
    /// Not understood: everything passes.
    Opaque,
}

/// What becomes of a chunk.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Passed<'c> {
    /// To be forwarded now.
    pub bytes: Cow<'c, [u8]>,
    /// Of the chunk and of what was held before it, bytes that never pass.
    pub lost_bytes: usize,
    /// To be done when they have been.
    pub then: Option<Then>,
    /// To be sent to the server over a connection of their own, after so many milliseconds.
    pub late: Vec<(u64, Vec<u8>)>,
}

impl Dialect {
    fn is_following(&self) -> bool {
        match self {
            Self::Resp(said) => said.is_following(),
            Self::Mysql(said) => said.is_following(),
            Self::Remoting(said) => said.is_following(),
            Self::Opaque => false,
        }
    }
}

impl<'c> Passed<'c> {
    fn part(chunk: &'c [u8], passing: Passing) -> Self {
        let until = passing.until.unwrap_or(chunk.len());
        Self {
            bytes: Cow::Borrowed(&chunk[..until]),
            lost_bytes: chunk.len() - until,
            then: passing.then,
            late: Vec::new(),
        }
    }

    fn changed(chunk: &'c [u8], changed: Option<Changed>) -> Self {
        match changed {
            None => Self::whole(chunk),
            Some(changed) => Self {
                bytes: Cow::Owned(changed.bytes),
                lost_bytes: changed.lost_bytes,
                then: changed.then,
                late: changed.late,
            },
        }
    }

    fn whole(chunk: &'c [u8]) -> Self {
        Self {
            bytes: Cow::Borrowed(chunk),
            ..Self::default()
        }
    }
}

impl Cutter {
    /// `is_fresh`: the connection has carried nothing yet.
    pub fn of(cuts: &Arc<Cuts>, is_fresh: bool) -> Self {
        let dialect = match (cuts.protocol(), is_fresh) {
            (Some(Protocol::Resp), true) => Dialect::Resp(Box::new(Ordered::of(Resp::default()))),
            (Some(Protocol::Resp), false) | (None, _) => Dialect::Opaque,
            (Some(Protocol::Mysql), _) => {
                Dialect::Mysql(Box::new(Ordered::of(Mysql::of(is_fresh))))
            }
            (Some(Protocol::Remoting), _) => Dialect::Remoting(Box::new(Remoting::of(is_fresh))),
        };
        let mut cutter = Self {
            dialect,
            cuts: Arc::clone(cuts),
            is_followed: false,
            is_cut: false,
        };
        cutter.count(cutter.dialect.is_following());
        cutter
    }

    /// A chunk has come from `stream`'s sender. Chunks must be told in the order in which they are forwarded.
    pub fn pass<'c>(&mut self, stream: Stream, chunk: &'c [u8]) -> Passed<'c> {
        if self.is_cut {
            return Passed {
                lost_bytes: chunk.len(),
                ..Passed::default()
            };
        }
        let cuts = &self.cuts;
        let is_client = stream == Stream::Upstream;
        let passed = match &mut self.dialect {
            Dialect::Resp(said) => ordered(said, cuts, is_client, chunk),
            Dialect::Mysql(said) => ordered(said, cuts, is_client, chunk),
            Dialect::Remoting(said) if is_client => {
                Ok(Passed::changed(chunk, said.client_sent(chunk, cuts)))
            }
            Dialect::Remoting(said) => Ok(Passed::changed(chunk, said.server_sent(chunk, cuts))),
            Dialect::Opaque => Ok(Passed::whole(chunk)),
        };
        let passed = passed.unwrap_or_else(|_| {
            self.dialect = Dialect::Opaque;
            Passed::whole(chunk)
        });
        self.count(self.dialect.is_following());
        self.is_cut = passed.then.is_some();
        passed
    }

    /// Whether nothing passes any more.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// `stream`'s sender has closed: what was held of an unfinished message.
    pub fn end(&mut self, stream: Stream) -> Vec<u8> {
        match &mut self.dialect {
            Dialect::Remoting(said) if !self.is_cut => said.take_held(stream == Stream::Upstream),
            _ => Vec::new(),
        }
    }

    fn count(&mut self, is_followed: bool) {
        match (self.is_followed, is_followed) {
            (false, true) => self.cuts.followed.fetch_add(1, Ordering::Relaxed),
            (true, false) => self.cuts.followed.fetch_sub(1, Ordering::Relaxed),
            _ => return,
        };
        self.is_followed = is_followed;
    }
}

fn ordered<'c>(
    said: &mut Ordered<impl Conversation>,
    cuts: &Cuts,
    is_client: bool,
    chunk: &'c [u8],
) -> Result<Passed<'c>, Strange> {
    let passing = if is_client {
        said.client_sent(chunk, cuts)
    } else {
        said.server_sent(chunk, cuts)
    };
    passing.map(|passing| Passed::part(chunk, passing))
}

impl Drop for Cutter {
    fn drop(&mut self) {
        self.count(false);
    }
}

#[cfg(test)]
mod tests;
