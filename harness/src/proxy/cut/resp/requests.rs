//! What the client says: arrays of bulk strings, or a line of words.

use super::super::{Asked, Strange};
use super::number::Number;

/// No command's name with its subcommand is longer.
const WORD_BYTES_MAX: usize = 64;
/// A longer key is not told.
const KEY_BYTES_MAX: usize = 256;
/// Redis's own limits.
const ARGUMENTS_MAX: i64 = 1 << 20;
const BULK_BYTES_MAX: i64 = 512 << 20;
const INLINE_BYTES_MAX: usize = 64 << 10;

#[derive(Debug, Default)]
pub(super) struct Requests {
    at: At,
    /// Which argument comes next, and how many the request has.
    argument: i64,
    arguments: i64,
    word: Vec<u8>,
    key: Vec<u8>,
    /// The argument with the first key; 0 when there is none.
    key_argument: i64,
}

/// Where in a request the next byte is.
#[derive(Debug, Clone, Copy, Default)]
enum At {
    #[default]
    Start,
    Arguments(Number),
    BulkType,
    BulkLength(Number),
    /// Bytes of the bulk string that are still to come, its line end among them.
    Bulk {
        left: usize,
    },
    Inline {
        bytes: usize,
    },
}

impl Requests {
    pub fn read(&mut self, bytes: &[u8], mut hear: impl FnMut(Asked<'_>)) -> Result<(), Strange> {
        let mut at = 0;
        while at < bytes.len() {
            let step = match self.at {
                At::Bulk { left } => self.bulk(&bytes[at..], left)?,
                At::Inline { bytes: length } => self.inline(&bytes[at..], length)?,
                _ => self.header(bytes[at])?,
            };
            at += step.read;
            if step.ends {
                if !self.word.is_empty() {
                    hear(Asked {
                        word: &self.word,
                        key: &self.key,
                        end: at,
                    });
                }
                *self = Self::default().with_buffers(self);
            }
        }
        Ok(())
    }

    /// A fresh state, without new allocations.
    fn with_buffers(mut self, old: &mut Self) -> Self {
        self.word = std::mem::take(&mut old.word);
        self.key = std::mem::take(&mut old.key);
        self.word.clear();
        self.key.clear();
        self
    }

    fn header(&mut self, byte: u8) -> Result<Step, Strange> {
        match &mut self.at {
            At::Start if byte == b'*' => self.at = At::Arguments(Number::default()),
            At::Start if byte == b'\r' || byte == b'\n' || byte.is_ascii_alphabetic() => {
                self.at = At::Inline { bytes: 0 };
                return Ok(Step {
                    read: 0,
                    ends: false,
                });
            }
            At::BulkType if byte == b'$' => self.at = At::BulkLength(Number::default()),
            At::Arguments(number) => {
                if let Some(arguments) = number.push(byte)? {
                    return self.begin(arguments);
                }
            }
            At::BulkLength(number) => match number.push(byte)? {
                Some(length) if (0..=BULK_BYTES_MAX).contains(&length) => {
                    self.at = At::Bulk {
                        left: length as usize + 2,
                    };
                }
                Some(_) => return Err(Strange),
                None => {}
            },
            _ => return Err(Strange),
        }
        Ok(Step {
            read: 1,
            ends: false,
        })
    }

    /// Redis ignores an array without elements.
    fn begin(&mut self, arguments: i64) -> Result<Step, Strange> {
        if arguments > ARGUMENTS_MAX {
            return Err(Strange);
        }
        (self.at, self.arguments) = (At::BulkType, arguments);
        Ok(Step {
            read: 1,
            ends: arguments <= 0,
        })
    }

    fn bulk(&mut self, bytes: &[u8], left: usize) -> Result<Step, Strange> {
        let read = left.min(bytes.len());
        let left = left - read;
        // Of the last two bytes, the line end, none is content.
        let content = &bytes[..(read + left).saturating_sub(2).min(read)];
        self.content(content);
        if left > 0 {
            self.at = At::Bulk { left };
            return Ok(Step { read, ends: false });
        }
        if bytes[read - 1] != b'\n' {
            return Err(Strange);
        }
        self.argument += 1;
        if self.argument == 1 {
            self.key_argument = key_argument(&self.word);
        }
        self.at = At::BulkType;
        Ok(Step {
            read,
            ends: self.argument == self.arguments,
        })
    }

    fn content(&mut self, content: &[u8]) {
        match self.argument {
            0 => append(&mut self.word, content, WORD_BYTES_MAX),
            1 if has_subcommand(&self.word) => {
                if !self.word.contains(&b' ') {
                    self.word.push(b' ');
                }
                append(&mut self.word, content, WORD_BYTES_MAX);
            }
            n if n == self.key_argument && n > 0 => {
                append(&mut self.key, content, KEY_BYTES_MAX);
            }
            _ => {}
        }
    }

    /// A line of words, as people type them; only its first word is told.
    fn inline(&mut self, bytes: &[u8], length: usize) -> Result<Step, Strange> {
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let read = end.map_or(bytes.len(), |end| end + 1);
        let length_new = length + read;
        if length_new > INLINE_BYTES_MAX {
            return Err(Strange);
        }
        for byte in &bytes[..read] {
            let is_word = byte.is_ascii_graphic();
            if is_word && self.argument == 0 {
                append(&mut self.word, &[*byte], WORD_BYTES_MAX);
            } else if !self.word.is_empty() {
                self.argument = 1;
            }
        }
        self.at = At::Inline { bytes: length_new };
        Ok(Step {
            read,
            ends: end.is_some(),
        })
    }
}

/// How far a step came, and whether the request ends there.
struct Step {
    read: usize,
    ends: bool,
}

fn append(to: &mut Vec<u8>, bytes: &[u8], max: usize) {
    let room = max - to.len().min(max);
    to.extend_from_slice(&bytes[..bytes.len().min(room)]);
}

/// Only where the subcommand matters here.
fn has_subcommand(word: &[u8]) -> bool {
    word.get(..6)
        .is_some_and(|start| start.eq_ignore_ascii_case(b"CLIENT"))
}

/// Scripts and functions name their keys after their number; nearly everything else begins with its key.
fn key_argument(word: &[u8]) -> i64 {
    const AFTER_NUMBER: [&[u8]; 6] = [
        b"EVAL",
        b"EVALSHA",
        b"EVAL_RO",
        b"EVALSHA_RO",
        b"FCALL",
        b"FCALL_RO",
    ];
    let is_script = AFTER_NUMBER
        .iter()
        .any(|name| word.eq_ignore_ascii_case(name));
    if is_script { 3 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Case<'c> = (&'c [u8], &'c [(&'c str, &'c str)]);

    fn heard(bytes: &[u8], chunk: usize) -> Result<Vec<(String, String)>, Strange> {
        let mut requests = Requests::default();
        let mut heard = Vec::new();
        for chunk in bytes.chunks(chunk) {
            requests.read(chunk, |asked| {
                assert!(asked.end <= chunk.len());
                let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
                heard.push((text(asked.word), text(asked.key)));
            })?;
        }
        Ok(heard)
    }

    #[test]
    fn names_commands_and_first_keys_however_they_come_in() {
        let cases: [Case<'_>; 6] = [
            (
                b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$0\r\n\r\n*1\r\n$4\r\nPING\r\n",
                &[("SET", "k"), ("PING", "")],
            ),
            (
                b"*4\r\n$7\r\nevalsha\r\n$2\r\nab\r\n$1\r\n1\r\n$3\r\nsku\r\n",
                &[("evalsha", "sku")],
            ),
            (b"*0\r\n*-1\r\n\r\nPING\r\n", &[("PING", "")]),
            (b"  \r\n", &[]),
            (
                b"*3\r\n$6\r\nCLIENT\r\n$5\r\nREPLY\r\n$3\r\nOFF\r\n",
                &[("CLIENT REPLY", "")],
            ),
            (b"set a b\nGET a\r\n", &[("set", ""), ("GET", "")]),
        ];
        for (bytes, expected) in cases {
            for chunk in 1..=bytes.len() {
                let heard = heard(bytes, chunk);
                if bytes.starts_with(b" ") {
                    assert_eq!(heard, Err(Strange), "no request begins with a space");
                    continue;
                }
                let heard = heard.unwrap();
                let heard: Vec<_> = heard
                    .iter()
                    .map(|(word, key)| (word.as_str(), key.as_str()))
                    .collect();
                assert_eq!(heard, expected, "in chunks of {chunk}");
            }
        }
    }

    #[test]
    fn refuses_what_no_client_of_redis_says() {
        for strange in [
            b"\x16\x03\x01 TLS".as_slice(),
            b"*1\r\n:5\r\n",
            b"*x\r\n",
            b"*1\r\n$-1\r\n",
            b"*1\r\n$3\r\nabcdef",
            b"*99999999\r\n",
        ] {
            assert_eq!(heard(strange, 64), Err(Strange), "{strange:?}");
        }
    }
}
