//! Blocks: the unit that is checked. Length (u32), xxh3 of the payload (u64), payload.
//!
//! An empty payload never occurs in a block of operations; length 0 marks the end of the file and
//! is followed by the number of operations in place of a payload, so that a history cut off between
//! two blocks is not taken for a whole one.

use std::io::{self, Read, Write};

use xxhash_rust::xxh3::xxh3_64;

/// Length and checksum.
pub const HEAD_LEN: u64 = 12;
/// More than any writer makes; a larger length is damage, not a reason to allocate.
pub const PAYLOAD_MAX: u32 = 16 << 20;

pub fn write(out: &mut impl Write, payload: &[u8]) -> io::Result<()> {
    let len = u32::try_from(payload.len()).map_err(io::Error::other)?;
    write_head(out, len, payload)?;
    out.write_all(payload)
}

pub fn write_end(out: &mut impl Write, operations: u64) -> io::Result<()> {
    let count = operations.to_le_bytes();
    write_head(out, 0, &count)?;
    out.write_all(&count)
}

fn write_head(out: &mut impl Write, len: u32, checked: &[u8]) -> io::Result<()> {
    out.write_all(&len.to_le_bytes())?;
    out.write_all(&xxh3_64(checked).to_le_bytes())
}

/// What stands at a place of the file.
#[derive(Debug, PartialEq, Eq)]
pub enum Block {
    /// The payload is in the buffer that was handed in.
    Payload,
    End {
        operations: u64,
    },
    Damaged(&'static str),
}

/// Reads the block at the reader's place; its payload goes to `payload`.
pub fn read(input: &mut impl Read, payload: &mut Vec<u8>) -> io::Result<Block> {
    let mut head = [0; HEAD_LEN as usize];
    if !fill(input, &mut head)? {
        return Ok(Block::Damaged("it was cut off"));
    }
    let [l0, l1, l2, l3, sum @ ..] = head;
    let len = u32::from_le_bytes([l0, l1, l2, l3]);
    if len > PAYLOAD_MAX {
        return Ok(Block::Damaged("a block says it is larger than any can be"));
    }
    payload.resize(if len == 0 { 8 } else { len as usize }, 0);
    if !fill(input, payload)? {
        return Ok(Block::Damaged("it was cut off"));
    }
    if xxh3_64(payload) != u64::from_le_bytes(sum) {
        return Ok(Block::Damaged("the checksum of a block is wrong"));
    }
    Ok(match payload.first_chunk() {
        Some(count) if len == 0 => Block::End {
            operations: u64::from_le_bytes(*count),
        },
        _ => Block::Payload,
    })
}

/// Fills the buffer; false: the file ended first.
pub fn fill(input: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match input.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}
