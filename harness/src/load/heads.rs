//! Heads of answers seen before. Most answers of a server differ in their bodies, if at all: a head that begins
//! with the very bytes of an earlier one need not be parsed again.

use super::answer::{Head, parse_head};

/// As many kinds of answers as come in turns (accepted, sold out, busy, ...), each until its date changes.
const HEADS: usize = 4;

/// The last heads that were parsed.
#[derive(Debug, Default)]
pub struct Heads {
    known: [Option<(Vec<u8>, Head)>; HEADS],
    /// The one to be forgotten next.
    oldest: usize,
}

impl Heads {
    /// The head at the start of `buffer`; None: it is not complete yet.
    pub fn head(&mut self, buffer: &[u8]) -> Result<Option<Head>, ()> {
        // A head ends with an empty line, so no head is the beginning of another.
        let known = self.known.iter().flatten();
        if let Some((_, head)) = { known }.find(|(bytes, _)| buffer.starts_with(bytes)) {
            return Ok(Some(*head));
        }
        let head = parse_head(buffer)?;
        if let Some(head) = head {
            self.remember(&buffer[..head.len], head);
        }
        Ok(head)
    }

    fn remember(&mut self, bytes: &[u8], head: Head) {
        let place = &mut self.known[self.oldest];
        let mut kept = place.take().map(|(bytes, _)| bytes).unwrap_or_default();
        kept.clear();
        kept.extend_from_slice(bytes);
        *place = Some((kept, head));
        self.oldest = (self.oldest + 1) % HEADS;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_seen_before_is_the_same_head_and_no_other() {
        let mut heads = Heads::default();
        let texts: Vec<String> = (0..20)
            .map(|at| {
                format!(
                    "HTTP/1.1 2{at:02} X\r\nContent-Length: {}\r\n\r\nbody",
                    at % 7
                )
            })
            .collect();
        for text in texts.iter().chain(&texts).chain(texts.iter().rev()) {
            for end in [text.len(), text.len() - 4, text.len() - 5, 10] {
                let part = &text.as_bytes()[..end];
                assert_eq!(heads.head(part), parse_head(part), "{text} cut at {end}");
            }
        }
        assert_eq!(heads.head(b"SSH-2.0\r\n\r\n"), Err(()));
    }
}
