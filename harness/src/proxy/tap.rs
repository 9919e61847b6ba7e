//! Where cut points meet a connection: before its toxics.

use std::borrow::Cow;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{sleep, timeout};

use super::address::Upstream;
use super::cut::{Cuts, Cutter, Passed, Then};
use super::queue::{Exit, Piece};
use super::stages::Stage;
use super::toxic::Stream;
use super::traffic::Meter;

/// How long a server may take to read what came late.
const READ_WITHIN: Duration = Duration::from_secs(10);

/// What the taps of a link's connections share.
#[derive(Debug)]
pub struct Tapper {
    pub cuts: Arc<Cuts>,
    pub upstream: Arc<Upstream>,
}

/// The cutter of one connection, shared by its two directions.
#[derive(Debug, Default)]
pub struct TapSlot(Mutex<Option<Shared>>);

#[derive(Debug, Clone)]
struct Shared {
    tapper: Arc<Tapper>,
    cutter: Arc<Mutex<Cutter>>,
}

impl TapSlot {
    /// One direction of the connection's tap, made by `tapper` unless it has made one already.
    pub fn stage(&self, tapper: &Arc<Tapper>, client: SocketAddr, meter: &Meter) -> Box<dyn Stage> {
        let mut slot = lock(&self.0);
        let shared = match slot.take() {
            Some(shared) if Arc::ptr_eq(&shared.tapper, tapper) => shared,
            _ => Shared {
                tapper: Arc::clone(tapper),
                cutter: Arc::new(Mutex::new(Cutter::of(&tapper.cuts, meter.is_fresh()))),
            },
        };
        *slot = Some(shared.clone());
        Box::new(Tap {
            shared,
            client,
            stream: meter.stream,
        })
    }
}

/// One direction's part of it.
#[derive(Debug)]
struct Tap {
    shared: Shared,
    client: SocketAddr,
    stream: Stream,
}

impl Stage for Tap {
    fn take(&mut self, piece: Piece, exit: &mut Exit<'_>) {
        match piece {
            Piece::Bytes(bytes) => {
                if self.take_bytes(&bytes, exit) {
                    exit.at_once(Piece::Bytes(bytes));
                }
            }
            Piece::End => self.end(exit),
            piece => exit.at_once(piece),
        }
    }

    fn take_bytes(&mut self, bytes: &[u8], exit: &mut Exit<'_>) -> bool {
        let passed = lock(&self.shared.cutter).pass(self.stream, bytes);
        let Passed {
            bytes: part,
            lost_bytes,
            then,
            late,
        } = passed;
        for (delay_ms, frame) in late {
            let upstream = Arc::clone(&self.shared.tapper.upstream);
            tokio::spawn(send_late(upstream, Duration::from_millis(delay_ms), frame));
        }
        exit.swallow(lost_bytes);
        if then.is_none() && matches!(part, Cow::Borrowed(part) if part.len() == bytes.len()) {
            return true;
        }
        if !part.is_empty() {
            exit.at_once(Piece::Bytes(part.into_owned()));
        }
        match then {
            Some(Then::Reset) => exit.at_once(Piece::ResetClient),
            Some(Then::Hang) => self.shared.tapper.cuts.hangs(self.client),
            None => {}
        }
        false
    }
}

impl Tap {
    /// A connection that hangs ends when its client gives up; the client is not told when its server does.
    fn end(&self, exit: &mut Exit<'_>) {
        let mut cutter = lock(&self.shared.cutter);
        if cutter.is_cut() {
            if self.stream == Stream::Upstream {
                exit.at_once(Piece::Cut);
            }
            return;
        }
        let held = cutter.end(self.stream);
        if !held.is_empty() {
            exit.at_once(Piece::Bytes(held));
        }
        exit.at_once(Piece::End);
    }
}

/// Lost when the server is gone by then, as a late packet would be.
async fn send_late(upstream: Arc<Upstream>, delay: Duration, frame: Vec<u8>) {
    sleep(delay).await;
    let sending = async {
        let mut stream = upstream.dial().await?;
        stream.write_all(&frame).await?;
        stream.shutdown().await?;
        stream.read_to_end(&mut Vec::new()).await
    };
    match timeout(READ_WITHIN, sending).await {
        Ok(Ok(_)) => {}
        Ok(Err(error)) => tracing::debug!(%error, "a late frame was lost"),
        Err(_) => tracing::debug!("the server keeps the connection of a late frame open"),
    }
}

/// A panic of another task must not make the connection unusable.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::super::address::Allowed;
    use super::super::cut::{Action, Cut, Protocol};
    use super::super::stages::bench::Bench;
    use super::*;

    /// The client's direction of a connection with a cut.
    fn tap(cut: &Cut) -> Bench<Tap> {
        let cuts = Arc::new(Cuts::default());
        cuts.set_protocol(Some(cut.protocol));
        cuts.add(cut, None).unwrap();
        let cutter = Cutter::of(&cuts, true);
        let upstream = Allowed::default().upstream("127.0.0.1:1").unwrap();
        let upstream = Arc::new(upstream);
        Bench::new(Tap {
            shared: Shared {
                tapper: Arc::new(Tapper { cuts, upstream }),
                cutter: Arc::new(Mutex::new(cutter)),
            },
            client: SocketAddr::from(([127, 0, 0, 1], 1)),
            stream: Stream::Upstream,
        })
    }

    #[test]
    fn a_close_comes_after_its_request_and_drops_what_follows() {
        let mut bench = tap(&Cut::next(Protocol::Resp, "PING", Action::Close));
        for chunk in ["GET a\r\nPI", "NG\r\nGET b\r\n", "GET c\r\n"] {
            bench.take(0, Piece::Bytes(chunk.into()));
        }
        assert_eq!(bench.out(0), "9 4 reset client");
        assert_eq!(bench.traffic().held_back_bytes, 14);
    }

    #[test]
    fn what_is_held_of_a_frame_comes_before_the_end() {
        let mut bench = tap(&Cut::next(
            Protocol::Remoting,
            "END_TRANSACTION",
            Action::Drop,
        ));
        bench.take(0, Piece::Bytes(vec![0, 0, 0, 40, 0, 0, 0, 2, b'{']));
        assert_eq!(bench.out(0), "");
        bench.take(0, Piece::End);
        assert_eq!(bench.out(0), "9 end");
    }
}
