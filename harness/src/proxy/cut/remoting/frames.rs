//! The frames of one direction: length (4 bytes, not counting itself), header length (4 bytes, its top byte the
//! header's serialization), header, body.

use super::super::Strange;
use super::header::Serialization;

/// `RocketMQ`'s own limit is 16 MiB; nothing of its protocol is longer than this.
const FRAME_BYTES_MAX: usize = 64 << 20;
/// A longer frame passes unread: what a connection may hold back is bounded.
const HELD_BYTES_MAX: usize = 8 << 20;
const LENGTH_BYTES: usize = 4;
/// Length, header length, first byte of the header.
const START_BYTES: usize = 9;

/// A part of the stream. All pieces in a row are the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'p> {
    Frame(&'p [u8]),
    /// Of a frame that is not looked at, or of what is none.
    Part(&'p [u8]),
}

/// What of the stream is next.
#[derive(Debug, Default)]
pub struct Frames {
    /// Bytes of a frame that pass unread.
    skip: usize,
    /// Bytes of a frame's length that have passed already.
    length: Vec<u8>,
    held: Vec<u8>,
    /// Where frames begin is not known yet.
    is_joining: bool,
    is_lost: bool,
}

impl Frames {
    /// For a stream whose beginning was missed: a chunk of whole frames tells where they begin.
    pub fn joining() -> Self {
        Self {
            is_joining: true,
            ..Self::default()
        }
    }

    pub fn is_following(&self) -> bool {
        !self.is_joining && !self.is_lost
    }

    pub fn is_holding(&self) -> bool {
        !self.held.is_empty()
    }

    pub fn take_held(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }

    /// No frame began where one should: from now on everything is told in parts.
    pub fn is_lost(&self) -> bool {
        self.is_lost
    }

    /// Follows the frames' lengths, while every byte passes.
    pub fn follow(&mut self, bytes: &[u8]) {
        self.read(bytes, false, |_| {});
    }

    /// Cuts the stream into its frames; with `hold`, whole ones. Tells every byte sooner or later.
    pub fn read(&mut self, mut bytes: &[u8], hold: bool, mut tell: impl FnMut(Piece<'_>)) {
        if self.is_joining {
            if !are_whole(bytes) {
                return tell(Piece::Part(bytes));
            }
            self.is_joining = false;
        }
        while !bytes.is_empty() {
            let step = if self.is_lost {
                Err(Strange)
            } else if self.skip > 0 {
                let read = self.skip.min(bytes.len());
                tell(Piece::Part(&bytes[..read]));
                self.skip -= read;
                Ok(read)
            } else if hold && self.length.is_empty() {
                self.hold(bytes, &mut tell)
            } else {
                self.pass_length(bytes, &mut tell)
            };
            match step {
                Ok(read) => bytes = &bytes[read..],
                Err(Strange) => {
                    self.is_lost = true;
                    tell(Piece::Part(&self.take_held()));
                    return tell(Piece::Part(bytes));
                }
            }
        }
    }

    /// The next byte of a frame's length, which is not held.
    fn pass_length(
        &mut self,
        bytes: &[u8],
        tell: &mut impl FnMut(Piece<'_>),
    ) -> Result<usize, Strange> {
        // Held while there was a cut, which is gone now.
        if self.is_holding() {
            let held = self.take_held();
            tell(Piece::Part(&held));
            match frame_bytes(&held)? {
                Some(whole) => self.skip = whole - held.len(),
                None => self.length = held,
            }
            return Ok(0);
        }
        tell(Piece::Part(&bytes[..1]));
        self.length.push(bytes[0]);
        // Its byte has been told; the error would tell it again.
        match frame_bytes(&self.length) {
            Ok(Some(whole)) => {
                self.skip = whole - LENGTH_BYTES;
                self.length.clear();
            }
            Ok(None) => {}
            Err(Strange) => self.is_lost = true,
        }
        Ok(1)
    }

    fn hold(&mut self, bytes: &[u8], tell: &mut impl FnMut(Piece<'_>)) -> Result<usize, Strange> {
        let wanted = match frame_bytes(&self.held)? {
            None => LENGTH_BYTES,
            Some(whole) if self.held.len() < START_BYTES => whole.min(START_BYTES),
            Some(whole) if whole > HELD_BYTES_MAX => {
                self.skip = whole - self.held.len();
                tell(Piece::Part(&self.take_held()));
                return Ok(0);
            }
            Some(whole) => whole,
        };
        let read = (wanted - self.held.len()).min(bytes.len());
        self.held.extend_from_slice(&bytes[..read]);
        match is_whole(&self.held) {
            Ok(true) => {
                tell(Piece::Frame(&self.held));
                self.held.clear();
            }
            Ok(false) => {}
            Err(Strange) => {
                tell(Piece::Part(&self.take_held()));
                self.is_lost = true;
            }
        }
        Ok(read)
    }
}

/// Looks at the beginning before more is held, so that the bytes of another protocol are not held for long.
fn is_whole(held: &[u8]) -> Result<bool, Strange> {
    let Some(whole) = frame_bytes(held)? else {
        return Ok(false);
    };
    if held.len() >= whole.min(START_BYTES) {
        check_start(held, whole)?;
    }
    Ok(held.len() == whole)
}

/// A chunk of one or more frames, and nothing else.
fn are_whole(mut bytes: &[u8]) -> bool {
    while let Ok(Some(whole)) = frame_bytes(bytes) {
        if whole > bytes.len() || check_start(bytes, whole).is_err() {
            return false;
        }
        bytes = &bytes[whole..];
        if bytes.is_empty() {
            return true;
        }
    }
    false
}

/// Of the frame that begins so, its length with the length's own bytes; `None` until that has come.
fn frame_bytes(start: &[u8]) -> Result<Option<usize>, Strange> {
    let Some(length) = start.first_chunk() else {
        return Ok(None);
    };
    let length = u32::from_be_bytes(*length) as usize;
    if !(LENGTH_BYTES..=FRAME_BYTES_MAX).contains(&length) {
        return Err(Strange);
    }
    Ok(Some(LENGTH_BYTES + length))
}

fn check_start(held: &[u8], whole: usize) -> Result<(), Strange> {
    let Some(start) = held.get(4..START_BYTES) else {
        return Err(Strange);
    };
    let header = u32::from_be_bytes([0, start[1], start[2], start[3]]) as usize;
    let is_header = match Serialization::of(start[0]) {
        Some(Serialization::Json) => start[4] == b'{',
        Some(Serialization::Binary) => true,
        None => false,
    };
    if is_header && header + 8 <= whole {
        Ok(())
    } else {
        Err(Strange)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(header: &[u8], body: &[u8]) -> Vec<u8> {
        let header_length = (header.len() as u32).to_be_bytes();
        let length = (header.len() + body.len() + 4) as u32;
        [&length.to_be_bytes(), &header_length[..], header, body].concat()
    }

    /// All bytes that were told, and how many frames were whole.
    fn told(frames: &mut Frames, bytes: &[u8], hold: bool) -> (Vec<u8>, usize, bool) {
        let (mut all, mut whole) = (Vec::new(), 0);
        frames.read(bytes, hold, |piece| match piece {
            Piece::Frame(frame) => {
                all.extend_from_slice(frame);
                whole += 1;
            }
            Piece::Part(part) => all.extend_from_slice(part),
        });
        (all, whole, !frames.is_lost())
    }

    #[test]
    fn finds_frames_in_chunks_of_any_size_and_holds_only_when_asked() {
        let stream = [
            frame(b"{}", b"body"),
            frame(b"{\"a\":1}", b""),
            frame(b"{}", &[7; 300]),
        ]
        .concat();
        for chunk in 1..stream.len() {
            for hold in [true, false] {
                let mut frames = Frames::default();
                let (mut all, mut whole) = (Vec::new(), 0);
                for bytes in stream.chunks(chunk) {
                    let (told, frames, is_ok) = told(&mut frames, bytes, hold);
                    assert!(is_ok && (hold || told.len() == bytes.len()));
                    all.extend(told);
                    whole += frames;
                }
                assert_eq!(
                    (all == stream, whole),
                    (true, if hold { 3 } else { 0 }),
                    "{chunk}"
                );
            }
        }
    }

    #[test]
    fn joins_at_a_chunk_of_whole_frames() {
        let mut frames = Frames::joining();
        let whole = frame(b"{}", b"body").repeat(2);
        for part in [&whole[5..], b"anything", &whole[..15]] {
            let (told, count, is_ok) = told(&mut frames, part, true);
            assert_eq!((&told[..], count, is_ok), (part, 0, true));
            assert!(!frames.is_following());
        }
        assert_eq!(told(&mut frames, &whole, true).1, 2);
        assert!(frames.is_following());
    }

    #[test]
    fn holding_begins_and_ends_within_the_stream() {
        let stream = frame(b"{}", b"body").repeat(4);
        for first in 0..stream.len() {
            for second in first..stream.len() {
                let mut frames = Frames::default();
                let mut all = Vec::new();
                for (part, hold) in [
                    (&stream[..first], false),
                    (&stream[first..second], true),
                    (&stream[second..], false),
                ] {
                    let (told, _, is_ok) = told(&mut frames, part, hold);
                    assert!(is_ok);
                    all.extend(told);
                }
                assert!(all == stream, "{first} {second}");
            }
        }
    }

    #[test]
    fn strange_bytes_are_told_at_once() {
        for strange in [
            b"GET / HTTP/1.1\r\n\r\n".as_slice(),
            b"\0\0\0\x01x",
            b"\0\0\0\x10\0\0\0\x02xxxxxx",
            b"\0\0\0\x10\x09\0\0\x02{}xxxx",
            b"\0\0\0\x10\0\0\0\x40{}xxxx",
        ] {
            let mut frames = Frames::default();
            let mut all = Vec::new();
            for byte in strange {
                all.extend(told(&mut frames, &[*byte], true).0);
            }
            assert_eq!(all, strange);
            assert!(!told(&mut frames, b"more", true).2);
        }
    }
}
