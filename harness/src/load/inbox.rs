//! The buffer that all connections read into, one after the other.

use super::heads::Heads;

/// Takes what any socket holds at once in the normal case.
const READ_BYTES: usize = 256 << 10;

/// One buffer for the whole engine: hot in the cache however many connections there are.
#[derive(Debug)]
pub struct Inbox {
    bytes: Vec<u8>,
    heads: Heads,
}

impl Inbox {
    pub fn new() -> Self {
        Self {
            bytes: vec![0; READ_BYTES],
            heads: Heads::default(),
        }
    }

    /// Puts back what a connection had left over and gives the space behind it, which is never empty.
    pub fn begin(&mut self, leftover: &[u8]) -> &mut [u8] {
        let room = leftover.len() + READ_BYTES;
        if self.bytes.len() < room {
            self.bytes.resize(room, 0);
        }
        self.bytes[..leftover.len()].copy_from_slice(leftover);
        &mut self.bytes[leftover.len()..]
    }

    /// The first `len` bytes: what was left over and what was read behind it. And the heads of answers before.
    pub fn received(&mut self, len: usize) -> (&mut [u8], &mut Heads) {
        (&mut self.bytes[..len], &mut self.heads)
    }
}
