//! Chunked bodies (RFC 9112 section 7.1): where one ends, and its data put together.

use std::ops::Range;

use httparse::{EMPTY_HEADER, Status};

use super::answer::{ANSWER_BYTES_MAX, HEADERS_MAX};

/// One step through a chunked body.
enum Chunk {
    Data(Range<usize>),
    /// The last chunk; trailers start here.
    Last(usize),
    Partial,
}

/// None: not a chunk.
fn chunk(buffer: &[u8], at: usize) -> Option<Chunk> {
    match httparse::parse_chunk_size(&buffer[at..]).ok()? {
        Status::Partial => Some(Chunk::Partial),
        Status::Complete((head, 0)) => Some(Chunk::Last(at + head)),
        Status::Complete((head, size)) => {
            let size = usize::try_from(size)
                .ok()
                .filter(|s| *s <= ANSWER_BYTES_MAX)?;
            let start = at + head;
            match buffer.get(start + size..start + size + 2) {
                Some(b"\r\n") => Some(Chunk::Data(start..start + size)),
                Some(_) => None,
                None => Some(Chunk::Partial),
            }
        }
    }
}

/// End of the chunked body that starts at `at`; inner None: not here yet, outer None: no chunks.
pub fn end(buffer: &[u8], mut at: usize) -> Option<Option<usize>> {
    loop {
        match chunk(buffer, at)? {
            Chunk::Data(data) => at = data.end + 2,
            Chunk::Last(trailers) => return trailers_end(buffer, trailers),
            Chunk::Partial => return Some(None),
        }
    }
}

fn trailers_end(buffer: &[u8], at: usize) -> Option<Option<usize>> {
    let mut trailers = [EMPTY_HEADER; HEADERS_MAX];
    match httparse::parse_headers(&buffer[at..], &mut trailers).ok()? {
        Status::Complete((len, _)) => Some(Some(at + len)),
        Status::Partial => Some(None),
    }
}

/// Moves the data of a complete chunked body together; gives its end.
pub fn join(buffer: &mut [u8], at: usize) -> usize {
    let mut from = at;
    let mut to = at;
    while let Some(Chunk::Data(data)) = chunk(buffer, from) {
        from = data.end + 2;
        let len = data.len();
        buffer.copy_within(data, to);
        to += len;
    }
    to
}
