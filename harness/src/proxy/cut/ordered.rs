//! Cuts in a conversation whose replies come in the order of the requests.

use std::collections::VecDeque;

use super::cuts::{CutId, Cuts, Moment};
use super::point::{Action, Then};
use super::{Answered, Conversation, Strange};

/// Requests of one connection whose replies are waited for. A client that has more under way is not followed.
const AWAITED_MAX: usize = 1 << 16;

/// Up to where a chunk passes, and what happens then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Passing {
    /// `None`: all of it.
    pub until: Option<usize>,
    pub then: Option<Then>,
}

impl Passing {
    const ALL: Self = Self {
        until: None,
        then: None,
    };
}

#[derive(Debug)]
pub(super) struct Ordered<C> {
    conversation: C,
    /// Requests and replies that have come.
    asked: u64,
    answered: u64,
    awaited: VecDeque<Awaited>,
    /// A reply that is being lost.
    losing: Option<(CutId, Then)>,
}

/// A request whose reply a cut wants to see.
#[derive(Debug)]
struct Awaited {
    number: u64,
    word: Vec<u8>,
    key: Vec<u8>,
}

impl<C: Conversation> Ordered<C> {
    pub fn of(conversation: C) -> Self {
        Self {
            conversation,
            asked: 0,
            answered: 0,
            awaited: VecDeque::new(),
            losing: None,
        }
    }

    pub fn is_following(&self) -> bool {
        self.conversation.is_following()
    }

    pub fn client_sent(&mut self, bytes: &[u8], cuts: &Cuts) -> Result<Passing, Strange> {
        let mut passing = Passing::ALL;
        let (asked, awaited) = (&mut self.asked, &mut self.awaited);
        let read = self.conversation.client_sent(bytes, |request| {
            if passing.then.is_some() {
                return;
            }
            if let Some((id, Action::Close)) =
                cuts.choose(Moment::Request, request.word, request.key)
            {
                cuts.fired(id);
                passing.until = Some(request.end);
                passing.then = Some(Then::Reset);
            }
            if cuts.awaits_reply(request.word, request.key) {
                awaited.push_back(Awaited {
                    number: *asked,
                    word: request.word.to_vec(),
                    key: request.key.to_vec(),
                });
            }
            *asked += 1;
        });
        if passing.then.is_some() {
            return Ok(passing);
        }
        read?;
        if self.awaited.len() > AWAITED_MAX {
            return Err(Strange);
        }
        Ok(passing)
    }

    pub fn server_sent(&mut self, bytes: &[u8], cuts: &Cuts) -> Result<Passing, Strange> {
        let mut passing = Passing {
            // Nothing of a reply that is being lost, nor what follows it.
            until: self.losing.map(|_| 0),
            then: None,
        };
        let Self {
            asked,
            answered,
            awaited,
            losing,
            ..
        } = self;
        let mut is_unasked = false;
        let read = self.conversation.server_sent(bytes, |reply| match reply {
            Answered::Starts { at, is_ok } => {
                is_unasked |= *answered >= *asked;
                if losing.is_some() {
                    return;
                }
                *losing = lost(awaited, *answered, is_ok, cuts);
                if losing.is_some() {
                    passing.until = Some(at);
                }
            }
            Answered::Ends { .. } => {
                *answered += 1;
                if let Some((id, then)) = losing
                    && passing.then.is_none()
                {
                    cuts.fired(*id);
                    passing.then = Some(*then);
                }
            }
        });
        let is_strange = read.is_err() || is_unasked;
        match (losing, is_strange) {
            (None, true) => Err(Strange),
            // What was swallowed is gone: the client must not get the rest.
            (Some(_), true) => Ok(Passing {
                then: passing.then.or(Some(Then::Reset)),
                ..passing
            }),
            (_, false) => Ok(passing),
        }
    }
}

/// Whether the reply with this number is to be lost.
fn lost(
    awaited: &mut VecDeque<Awaited>,
    number: u64,
    is_ok: bool,
    cuts: &Cuts,
) -> Option<(CutId, Then)> {
    let request = awaited.pop_front_if(|request| request.number == number)?;
    if !is_ok {
        return None;
    }
    match cuts.choose(Moment::Reply, &request.word, &request.key)? {
        (id, Action::LoseReply { then }) => Some((id, then)),
        _ => None,
    }
}
