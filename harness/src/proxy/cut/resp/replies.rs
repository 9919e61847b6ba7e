//! What the server says: values of any depth, one for each request, and pushes between them.

use super::super::{Answered, Strange};
use super::number::Number;

/// No reply of Redis nests as deep.
const DEPTH_MAX: usize = 64;
const LENGTH_MAX: i64 = 1 << 32;

#[derive(Debug, Default)]
pub(super) struct Replies {
    at: At,
    /// Elements that are still to come, of each array that is open.
    open: Vec<u64>,
    /// What is open at the outside.
    outermost: Outermost,
}

/// Only a value answers a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Outermost {
    #[default]
    Value,
    /// RESP3's out-of-band message.
    Push,
    /// RESP3's note on the value that follows it.
    Attribute,
}

/// Where in a value the next byte is.
#[derive(Debug, Clone, Copy, Default)]
enum At {
    #[default]
    Type,
    /// A text or a number as text, up to its line end.
    Line {
        cr: bool,
    },
    Length {
        of: u8,
        number: Number,
    },
    Bulk {
        left: u64,
    },
}

impl Replies {
    pub fn read(&mut self, bytes: &[u8], mut hear: impl FnMut(Answered)) -> Result<(), Strange> {
        let mut at = 0;
        while at < bytes.len() {
            let (read, ends) = match self.at {
                At::Type => (1, self.begin(bytes[at], at, &mut hear)?),
                At::Line { cr } => self.line(&bytes[at..], cr),
                At::Length { of, number } => (1, self.length(of, number, bytes[at])?),
                At::Bulk { left } => self.bulk(&bytes[at..], left)?,
            };
            at += read;
            if ends && self.close_finished() && self.outermost == Outermost::Value {
                hear(Answered::Ends { at });
            }
        }
        Ok(())
    }

    fn begin(
        &mut self,
        kind: u8,
        at: usize,
        hear: &mut impl FnMut(Answered),
    ) -> Result<bool, Strange> {
        if self.open.is_empty() {
            self.outermost = match kind {
                b'>' => Outermost::Push,
                b'|' => Outermost::Attribute,
                _ => Outermost::Value,
            };
            if self.outermost == Outermost::Value {
                let is_ok = kind != b'-' && kind != b'!';
                hear(Answered::Starts { at, is_ok });
            }
        }
        self.at = match kind {
            b'+' | b'-' | b':' | b'_' | b'#' | b',' | b'(' => At::Line { cr: false },
            b'$' | b'=' | b'!' | b'*' | b'~' | b'>' | b'%' | b'|' => At::Length {
                of: kind,
                number: Number::default(),
            },
            _ => return Err(Strange),
        };
        Ok(false)
    }

    fn line(&mut self, bytes: &[u8], cr: bool) -> (usize, bool) {
        if cr && bytes[0] == b'\n' {
            self.at = At::Type;
            return (1, true);
        }
        match bytes.iter().position(|byte| *byte == b'\r') {
            Some(end) => {
                self.at = At::Line { cr: true };
                (end + 1, false)
            }
            None => {
                self.at = At::Line { cr: false };
                (bytes.len(), false)
            }
        }
    }

    /// Whether a value ends with its length, as one without elements does.
    fn length(&mut self, of: u8, mut number: Number, byte: u8) -> Result<bool, Strange> {
        let Some(length) = number.push(byte)? else {
            self.at = At::Length { of, number };
            return Ok(false);
        };
        if !(-1..=LENGTH_MAX).contains(&length) {
            return Err(Strange);
        }
        let is_bulk = matches!(of, b'$' | b'=' | b'!');
        self.at = match u64::try_from(length) {
            Ok(length) if is_bulk => At::Bulk { left: length + 2 },
            _ => At::Type,
        };
        if is_bulk {
            return Ok(length < 0);
        }
        let elements = length.max(0).unsigned_abs();
        let elements = match of {
            b'%' | b'|' => elements * 2,
            _ => elements,
        };
        self.open_array(of, elements)
    }

    fn open_array(&mut self, of: u8, elements: u64) -> Result<bool, Strange> {
        // An attribute within a value does not count as one of its elements.
        if of == b'|'
            && let Some(left) = self.open.last_mut()
        {
            *left += 1;
        }
        if elements == 0 {
            return Ok(true);
        }
        if self.open.len() == DEPTH_MAX {
            return Err(Strange);
        }
        self.open.push(elements);
        Ok(false)
    }

    fn bulk(&mut self, bytes: &[u8], left: u64) -> Result<(usize, bool), Strange> {
        let read = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
        let left = left - read as u64;
        if left > 0 {
            self.at = At::Bulk { left };
            return Ok((read, false));
        }
        if bytes[read - 1] != b'\n' {
            return Err(Strange);
        }
        self.at = At::Type;
        Ok((read, true))
    }

    /// A value has ended, and with it each array whose last element it was. Whether nothing is open any more.
    fn close_finished(&mut self) -> bool {
        while let Some(left) = self.open.last_mut() {
            *left -= 1;
            if *left > 0 {
                return false;
            }
            self.open.pop();
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Offsets of start and end in the whole, and whether it is a reply of success.
    type Reply = (usize, usize, bool);

    fn heard(bytes: &[u8], chunk: usize) -> Result<Vec<Reply>, Strange> {
        let mut replies = Replies::default();
        let mut heard = Vec::new();
        for (index, part) in bytes.chunks(chunk).enumerate() {
            replies.read(part, |answered| match answered {
                Answered::Starts { at, is_ok } => heard.push((index * chunk + at, 0, is_ok)),
                Answered::Ends { at } => heard.last_mut().unwrap().1 = index * chunk + at,
            })?;
        }
        Ok(heard)
    }

    #[test]
    fn finds_the_replies_among_nested_values_and_pushes() {
        let cases: [(&[u8], &[Reply]); 6] = [
            (b"+OK\r\n-NOSCRIPT x\r\n", &[(0, 5, true), (5, 18, false)]),
            (b"$3\r\na\r\n\r\n$-1\r\n", &[(0, 9, true), (9, 14, true)]),
            (
                b"*2\r\n*1\r\n:1\r\n*0\r\n:2\r\n",
                &[(0, 16, true), (16, 20, true)],
            ),
            (b">2\r\n+a\r\n+b\r\n%1\r\n+k\r\n*-1\r\n", &[(12, 25, true)]),
            (b"|1\r\n+k\r\n+v\r\n:7\r\n", &[(12, 16, true)]),
            (
                b"*2\r\n|1\r\n+k\r\n+v\r\n:7\r\n:8\r\n_\r\n",
                &[(0, 24, true), (24, 27, true)],
            ),
        ];
        for (bytes, expected) in cases {
            for chunk in 1..=bytes.len() {
                assert_eq!(
                    heard(bytes, chunk).unwrap(),
                    expected,
                    "{:?} in chunks of {chunk}",
                    String::from_utf8_lossy(bytes)
                );
            }
        }
    }

    #[test]
    fn refuses_what_no_redis_says() {
        let deep = b"*1\r\n".repeat(DEPTH_MAX + 1);
        for strange in [b"hello".as_slice(), b"*?\r\n", b"$2\r\nabcdef", &deep] {
            assert_eq!(heard(strange, 4096), Err(Strange));
        }
    }
}
