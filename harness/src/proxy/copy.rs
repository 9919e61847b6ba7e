//! The copy loop of one direction: reads, lets the line do what it does, writes.
//!
//! Without a toxic this is a plain read and write. A change of the rules wakes the loop, so that toxics
//! take effect on idle and on blocked connections too.

use std::io::{self, ErrorKind};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::line::{Line, Rules};
use super::queue::Piece;

/// Large enough that a pipelined burst is one read and one write.
pub const READ_BYTES: usize = 128 << 10;

/// How a direction, and with it perhaps the connection, came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The end of the stream was passed on, or nobody is left to pass anything to. The other direction
    /// goes on.
    Finished,
    /// The connection is to be closed.
    Cut,
    /// The connection is to be reset.
    Reset,
    /// The client is to be reset; the server is to have all that was sent before it sees a close.
    ResetClient,
}

/// Copies until an end.
pub async fn copy(
    mut from: ReadHalf<'_>,
    mut to: WriteHalf<'_>,
    mut line: Line,
    mut rules: watch::Receiver<Rules>,
) -> Ending {
    let mut buffer = vec![0; READ_BYTES];
    let mut source_open = true;
    line.follow(&rules.borrow_and_update());
    loop {
        // Bytes that never stop must not keep a change waiting. An error says that the link is gone; its
        // order to close is under way then.
        if rules.has_changed().unwrap_or(false) {
            line.follow(&rules.borrow_and_update());
        }
        line.advance();
        match write(&mut to, &mut line).await {
            Ok(None) => {}
            Ok(Some(ending)) => return ending,
            Err(_) => return drain(from, &mut buffer).await,
        }
        let due = line.next_due();
        tokio::select! {
            biased;
            // An error shows at the next write.
            _ = to.writable(), if !line.ready().is_empty() => {}
            read = from.read(&mut buffer), if source_open && line.has_room() => match read {
                Ok(0) => {
                    source_open = false;
                    line.arrive(Piece::End);
                }
                Ok(count) => arrive(&to, &mut line, &buffer[..count]),
                Err(_) => {
                    source_open = false;
                    line.arrive(Piece::Reset);
                }
            },
            () = until(due), if due.is_some() => {}
            Ok(()) = rules.changed() => line.follow(&rules.borrow_and_update()),
            else => return Ending::Cut,
        }
    }
}

fn arrive(to: &WriteHalf<'_>, line: &mut Line, bytes: &[u8]) {
    line.meter().add_received(bytes.len());
    if !line.take_bytes(bytes) {
        return;
    }
    // A failed write leaves all to the slow way, which tells why.
    let written = to.try_write(bytes).unwrap_or(0);
    line.meter().add_forwarded(written);
    if written < bytes.len() {
        line.ready()
            .push_back(Piece::Bytes(bytes[written..].to_vec()));
    }
}

/// Nothing is set up where nothing is due.
async fn until(due: Option<Instant>) {
    if let Some(due) = due {
        sleep_until(due).await;
    }
}

/// The sink is gone. The source is told by the other direction, when that one is; until then it must not
/// be blocked, since it may have to read before it can end.
async fn drain(mut from: ReadHalf<'_>, buffer: &mut [u8]) -> Ending {
    while let Ok(1..) = from.read(buffer).await {}
    Ending::Finished
}

/// Writes what is ready, as far as the socket takes it.
async fn write(to: &mut WriteHalf<'_>, line: &mut Line) -> io::Result<Option<Ending>> {
    while let Some(piece) = line.ready().front_mut() {
        match piece {
            Piece::Bytes(bytes) => match to.try_write(bytes) {
                Ok(written) => {
                    bytes.drain(..written);
                    let is_done = bytes.is_empty();
                    line.meter().add_forwarded(written);
                    if !is_done {
                        return Ok(abrupt(line));
                    }
                    line.ready().pop_front();
                    line.advance();
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(abrupt(line)),
                Err(error) => return Err(error),
            },
            Piece::End => {
                // It only fails when the peer is gone.
                let _ = to.shutdown().await;
                return Ok(Some(Ending::Finished));
            }
            Piece::Reset => return Ok(Some(Ending::Reset)),
            Piece::ResetClient => return Ok(Some(Ending::ResetClient)),
            Piece::Cut | Piece::Close => return Ok(Some(Ending::Cut)),
        }
    }
    Ok(None)
}

/// An ending that does not wait until the peer reads what is before it.
fn abrupt(line: &mut Line) -> Option<Ending> {
    let waiting = line.ready().iter().find(|piece| piece.is_abrupt())?;
    Some(if *waiting == Piece::Reset {
        Ending::Reset
    } else {
        Ending::Cut
    })
}
