//! HTTP/1.1 answers: where one ends in the bytes received, and its body.

use std::mem::MaybeUninit;
use std::ops::Range;

use httparse::{Header, ParserConfig, Response, Status};

use super::chunks;
use super::heads::Heads;

/// No answer of a buy call comes near this; what does is not HTTP that we can follow.
pub(super) const ANSWER_BYTES_MAX: usize = 1 << 20;
pub(super) const HEADERS_MAX: usize = 64;

/// One whole answer at the start of a buffer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    /// Place of the body in the buffer, chunks joined.
    pub body: Range<usize>,
    /// Bytes of the buffer that the answer took up.
    pub len: usize,
    /// The server will close the connection behind this answer.
    pub closes: bool,
}

/// What the bytes received so far amount to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parsed {
    Whole(Answer),
    /// More bytes are needed.
    Partial,
    /// Not an answer, whatever follows.
    Bad,
}

/// How the end of a body is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Framing {
    Length(usize),
    Chunked,
    UntilClose,
}

/// Reads the answer at the start of `buffer`; joins the chunks of a chunked body in place once it
/// is complete. `ended`: the server has closed, no byte will follow. Interim answers (1xx) are skipped.
pub fn parse(buffer: &mut [u8], ended: bool, heads: &mut Heads) -> Parsed {
    let mut start = 0;
    loop {
        let head = match heads.head(&buffer[start..]) {
            Ok(Some(head)) => head,
            Ok(None) => return incomplete(buffer),
            Err(()) => return Parsed::Bad,
        };
        let at = start + head.len;
        if (100..200).contains(&head.status) {
            start = at;
            continue;
        }
        let Some((body, len)) = body(buffer, at, head.framing, ended) else {
            return Parsed::Bad;
        };
        return match len {
            Some(len) => Parsed::Whole(Answer {
                status: head.status,
                body,
                len,
                closes: head.closes || head.framing == Framing::UntilClose,
            }),
            None => incomplete(buffer),
        };
    }
}

fn incomplete(buffer: &[u8]) -> Parsed {
    if buffer.len() > ANSWER_BYTES_MAX {
        Parsed::Bad
    } else {
        Parsed::Partial
    }
}

/// Everything about an answer but its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    status: u16,
    /// Bytes up to the body.
    pub len: usize,
    framing: Framing,
    closes: bool,
}

/// None: the head is not complete yet.
pub(super) fn parse_head(buffer: &[u8]) -> Result<Option<Head>, ()> {
    // Left unset: clearing 64 headers for each answer would cost more than parsing it.
    let mut headers = [const { MaybeUninit::uninit() }; HEADERS_MAX];
    let mut response = Response::new(&mut []);
    let parsed = ParserConfig::default().parse_response_with_uninit_headers(
        &mut response,
        buffer,
        &mut headers,
    );
    let Status::Complete(len) = parsed.map_err(|_| ())? else {
        return Ok(None);
    };
    let status = response.code.ok_or(())?;
    let mut closes = response.version == Some(0);
    let mut length = None;
    let mut chunked = false;
    for header in response.headers.iter() {
        if is(header, "content-length") {
            length = Some(number(header.value).ok_or(())?);
        } else if is(header, "transfer-encoding") {
            chunked = header.value.eq_ignore_ascii_case(b"chunked");
            if !chunked {
                return Err(());
            }
        } else if is(header, "connection") {
            closes = closes && !header.value.eq_ignore_ascii_case(b"keep-alive")
                || header.value.eq_ignore_ascii_case(b"close");
        }
    }
    let framing = match length {
        _ if status == 204 || status == 304 => Framing::Length(0),
        _ if chunked => Framing::Chunked,
        Some(length) => Framing::Length(length),
        None => Framing::UntilClose,
    };
    Ok(Some(Head {
        status,
        len,
        framing,
        closes,
    }))
}

fn is(header: &Header<'_>, name: &str) -> bool {
    header.name.eq_ignore_ascii_case(name)
}

fn number(value: &[u8]) -> Option<usize> {
    std::str::from_utf8(value).ok()?.trim().parse().ok()
}

/// Place of the body and end of the answer (None: not here yet); None: not a body.
type Body = Option<(Range<usize>, Option<usize>)>;

fn body(buffer: &mut [u8], at: usize, framing: Framing, ended: bool) -> Body {
    match framing {
        Framing::Length(length) => {
            let end = at.checked_add(length)?;
            (length <= ANSWER_BYTES_MAX).then(|| (at..end, (end <= buffer.len()).then_some(end)))
        }
        Framing::UntilClose => Some((at..buffer.len(), ended.then_some(buffer.len()))),
        Framing::Chunked => match chunks::end(buffer, at)? {
            Some(end) => Some((at..chunks::join(buffer, at), Some(end))),
            None => Some((at..at, None)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(text: &str, ended: bool) -> Option<(u16, String, usize, bool)> {
        let mut buffer = text.as_bytes().to_vec();
        match parse(&mut buffer, ended, &mut Heads::default()) {
            Parsed::Whole(answer) => Some((
                answer.status,
                String::from_utf8_lossy(&buffer[answer.body]).into_owned(),
                answer.len,
                answer.closes,
            )),
            Parsed::Partial | Parsed::Bad => None,
        }
    }

    #[test]
    fn reads_each_framing() {
        let cases = [
            (
                "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi",
                "hi",
                false,
            ),
            ("HTTP/1.1 202 A\r\nContent-Length:0\r\n\r\n", "", false),
            ("HTTP/1.1 204 No\r\n\r\n", "", false),
            (
                "HTTP/1.1 409 C\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno",
                "no",
                true,
            ),
            ("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", "hi", true),
            (
                "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi",
                "hi",
                false,
            ),
            (
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
                "x",
                false,
            ),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n",
                "abcde",
                false,
            ),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nT: 1\r\n\r\n",
                "a",
                false,
            ),
        ];
        for (text, body, closes) in cases {
            let (_, read, len, closing) = whole(text, false).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(
                (read.as_str(), len, closing),
                (body, text.len(), closes),
                "{text}"
            );
            let more = format!("{text}HTTP/1.1 200");
            assert_eq!(whole(&more, false).map(|w| w.2), Some(text.len()), "{text}");
            for end in 1..text.len() {
                let mut part = text.as_bytes()[..end].to_vec();
                assert_eq!(
                    parse(&mut part, false, &mut Heads::default()),
                    Parsed::Partial,
                    "{text} cut at {end}"
                );
                assert_eq!(part, text.as_bytes()[..end], "partial input is left alone");
            }
        }
    }

    #[test]
    fn a_body_without_length_ends_with_the_connection() {
        let text = "HTTP/1.1 200 OK\r\n\r\nall of it";
        assert_eq!(whole(text, false), None);
        let read = whole(text, true).unwrap();
        assert_eq!((read.1.as_str(), read.3), ("all of it", true));
    }

    #[test]
    fn knows_what_is_no_answer() {
        let cases = [
            "SSH-2.0-OpenSSH\r\n\r\n",
            "HTTP/1.1 abc\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc",
        ];
        for text in cases {
            let mut buffer = text.as_bytes().to_vec();
            assert_eq!(
                parse(&mut buffer, false, &mut Heads::default()),
                Parsed::Bad,
                "{text}"
            );
        }
    }

    #[test]
    fn an_answer_without_end_is_bad() {
        let mut buffer = b"HTTP/1.1 200 OK\r\n\r\n".to_vec();
        buffer.resize(ANSWER_BYTES_MAX + 1, b'x');
        assert_eq!(
            parse(&mut buffer, false, &mut Heads::default()),
            Parsed::Bad
        );
    }
}
