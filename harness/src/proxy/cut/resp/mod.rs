//! RESP2 and RESP3, the protocol of Redis. Source: redis.io, "Redis serialization protocol specification".

mod number;
mod replies;
mod requests;

use self::replies::Replies;
use self::requests::Requests;
use super::{Answered, Asked, Conversation, Strange};

/// After these, replies no longer come one for each request.
const UNFOLLOWED: [&[u8]; 8] = [
    b"SUBSCRIBE",
    b"PSUBSCRIBE",
    b"SSUBSCRIBE",
    b"MONITOR",
    b"SYNC",
    b"PSYNC",
    b"REPLCONF",
    b"CLIENT REPLY",
];

/// Both directions of one connection.
#[derive(Debug, Default)]
pub struct Resp {
    requests: Requests,
    replies: Replies,
}

impl Conversation for Resp {
    fn is_following(&self) -> bool {
        true
    }

    fn client_sent(
        &mut self,
        bytes: &[u8],
        mut hear: impl FnMut(Asked<'_>),
    ) -> Result<(), Strange> {
        let mut unfollowed = false;
        self.requests.read(bytes, |asked| {
            unfollowed |= UNFOLLOWED
                .iter()
                .any(|word| asked.word.eq_ignore_ascii_case(word));
            if !unfollowed {
                hear(asked);
            }
        })?;
        if unfollowed { Err(Strange) } else { Ok(()) }
    }

    fn server_sent(&mut self, bytes: &[u8], hear: impl FnMut(Answered)) -> Result<(), Strange> {
        self.replies.read(bytes, hear)
    }
}
