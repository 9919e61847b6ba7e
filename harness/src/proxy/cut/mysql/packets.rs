//! The packets of one direction: length (3 bytes, little endian), sequence number, payload. A payload of the largest
//! length goes on in the next packet.

use super::super::Strange;

/// Beginning of a payload that is kept: enough for a statement's first word after a comment.
const HEAD_BYTES_MAX: usize = 256;
const LENGTH_MAX: usize = 0xff_ffff;

/// A payload, all its packets together.
#[derive(Debug)]
pub(super) struct Packet<'p> {
    pub sequence_first: u8,
    pub sequence_last: u8,
    /// Beginning of the payload.
    pub head: &'p [u8],
    /// Where it begins in this chunk; 0 if it began before.
    pub start: usize,
    /// Its first byte after it.
    pub end: usize,
}

#[derive(Debug, Default)]
pub(super) struct Packets {
    header: Vec<u8>,
    /// Bytes of the packet that are still to come.
    left: usize,
    head: Vec<u8>,
    sequence_first: Option<u8>,
    is_continued: bool,
}

impl Packets {
    /// Stops at the first packet that `hear` cannot follow.
    pub fn read(
        &mut self,
        bytes: &[u8],
        mut hear: impl FnMut(&Packet<'_>) -> Result<(), Strange>,
    ) -> Result<(), Strange> {
        let mut at = 0;
        let mut start = 0;
        while at < bytes.len() {
            if self.header.len() < 4 {
                if self.header.is_empty() && self.sequence_first.is_none() {
                    start = at;
                }
                self.header.push(bytes[at]);
                at += 1;
                self.begin();
            } else {
                at += self.payload(&bytes[at..]);
            }
            if self.header.len() == 4 && self.left == 0 {
                self.end(start, at, &mut hear)?;
            }
        }
        Ok(())
    }

    fn begin(&mut self) {
        let [a, b, c, sequence] = self.header[..] else {
            return;
        };
        self.left = u32::from_le_bytes([a, b, c, 0]) as usize;
        self.is_continued = self.left == LENGTH_MAX;
        self.sequence_first.get_or_insert(sequence);
    }

    fn payload(&mut self, bytes: &[u8]) -> usize {
        let read = self.left.min(bytes.len());
        let room = HEAD_BYTES_MAX - self.head.len();
        self.head.extend_from_slice(&bytes[..read.min(room)]);
        self.left -= read;
        read
    }

    fn end(
        &mut self,
        start: usize,
        end: usize,
        hear: &mut impl FnMut(&Packet<'_>) -> Result<(), Strange>,
    ) -> Result<(), Strange> {
        let sequence_last = self.header[3];
        self.header.clear();
        if self.is_continued {
            return Ok(());
        }
        let heard = hear(&Packet {
            sequence_first: self.sequence_first.take().unwrap_or(sequence_last),
            sequence_last,
            head: &self.head,
            start,
            end,
        });
        self.head.clear();
        heard
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_what_was_split_and_tells_only_its_beginning() {
        let mut bytes = vec![0xff, 0xff, 0xff, 0];
        bytes.extend(std::iter::repeat_n(b'x', LENGTH_MAX));
        bytes.extend([2, 0, 0, 1, b'y', b'y']);
        bytes.extend([1, 0, 0, 0, b'z']);
        let mut heard = Vec::new();
        let mut packets = Packets::default();
        for chunk in bytes.chunks(1 << 20) {
            packets
                .read(chunk, |packet| {
                    heard.push((packet.sequence_last, packet.head.len(), packet.head[0]));
                    Ok(())
                })
                .unwrap();
        }
        assert_eq!(heard, [(1, HEAD_BYTES_MAX, b'x'), (0, 1, b'z')]);
    }
}
