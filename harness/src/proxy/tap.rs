//! A listener on a connection that may change what passes: the place for protocol cut points.

use std::fmt::Debug;
use std::net::SocketAddr;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::queue::{Exit, Piece};
use super::stages::Stage;
use super::toxic::Stream;
use super::traffic::Meter;

/// What becomes of a chunk, in order. Bytes that no step passes are dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Forwards these bytes of the chunk.
    Pass(Range<usize>),
    /// Forwards bytes that are not of the chunk.
    Insert(Vec<u8>),
    /// What follows in this direction waits.
    Wait(Duration),
    /// Closes the connection once all before has been sent.
    Close,
    /// Resets the connection once all before has been sent.
    Reset,
}

/// Sees every chunk of one connection, both directions, before the toxics do.
pub trait Tap: Debug + Send {
    /// `steps` comes empty.
    fn chunk(&mut self, stream: Stream, bytes: &[u8], steps: &mut Vec<Step>);

    /// The sender of `stream` has ended; the end itself follows the steps.
    fn end(&mut self, _stream: Stream, _steps: &mut Vec<Step>) {}
}

/// Makes the taps of a link's connections.
pub trait Tapper: Debug + Send + Sync {
    /// Called once a connection: when it opens, or when the tapper is set. `is_fresh`: it has carried
    /// nothing yet.
    fn tap(&self, client: SocketAddr, is_fresh: bool) -> Box<dyn Tap>;
}

type Shared = Arc<Mutex<Box<dyn Tap>>>;

/// The tap of one connection, shared by its two directions.
#[derive(Debug, Default)]
pub struct TapSlot(Mutex<Option<(Arc<dyn Tapper>, Shared)>>);

impl TapSlot {
    /// The stage that asks the connection's tap, made by `tapper` unless it has made one already.
    pub fn stage(
        &self,
        tapper: &Arc<dyn Tapper>,
        client: SocketAddr,
        meter: &Meter,
    ) -> Box<dyn Stage> {
        let stream = meter.stream;
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let tap = match slot.as_ref() {
            Some((made_by, tap)) if Arc::ptr_eq(made_by, tapper) => Arc::clone(tap),
            _ => Arc::new(Mutex::new(tapper.tap(client, meter.is_fresh()))),
        };
        *slot = Some((Arc::clone(tapper), Arc::clone(&tap)));
        Box::new(TapStage { tap, stream })
    }
}

#[derive(Debug)]
struct TapStage {
    tap: Shared,
    stream: Stream,
}

impl Stage for TapStage {
    fn take(&mut self, piece: Piece, exit: &mut Exit<'_>) {
        let mut steps = Vec::new();
        let mut tap = self.tap.lock().unwrap_or_else(PoisonError::into_inner);
        match piece {
            Piece::Bytes(bytes) => {
                tap.chunk(self.stream, &bytes, &mut steps);
                follow(steps, &bytes, exit);
            }
            _ => {
                tap.end(self.stream, &mut steps);
                follow(steps, &[], exit);
                exit.at_once(piece);
            }
        }
    }
}

fn follow(steps: Vec<Step>, bytes: &[u8], exit: &mut Exit<'_>) {
    let mut wait = Duration::ZERO;
    let mut passed_bytes = 0;
    for step in steps {
        let piece = match step {
            Step::Wait(longer) => {
                wait += longer;
                continue;
            }
            Step::Pass(range) => {
                let part = bytes.get(range).unwrap_or_default();
                passed_bytes += part.len();
                Piece::Bytes(part.to_vec())
            }
            Step::Insert(bytes) => Piece::Bytes(bytes),
            Step::Close => Piece::Close,
            Step::Reset => Piece::Reset,
        };
        exit.after(wait, piece);
    }
    exit.swallow(bytes.len().saturating_sub(passed_bytes));
}

#[cfg(test)]
mod tests {
    use super::super::stages::bench::Bench;
    use super::*;

    /// Lets through what is upper case, and acts on the digits.
    #[derive(Debug)]
    struct Sieve;

    impl Tap for Sieve {
        fn chunk(&mut self, _: Stream, bytes: &[u8], steps: &mut Vec<Step>) {
            for (at, byte) in bytes.iter().enumerate() {
                match byte {
                    b'A'..=b'Z' => steps.push(Step::Pass(at..at + 1)),
                    b'1' => steps.push(Step::Wait(Duration::from_millis(10))),
                    b'2' => steps.push(Step::Insert(b"twice".to_vec())),
                    b'3' => steps.push(Step::Close),
                    _ => {}
                }
            }
        }

        fn end(&mut self, _: Stream, steps: &mut Vec<Step>) {
            steps.push(Step::Insert(b"bye".to_vec()));
        }
    }

    #[test]
    fn steps_are_taken_in_order_and_what_no_step_passes_is_dropped() {
        for (chunk, at_once, later) in [
            ("ABc", "1 1", ""),
            ("A1B", "1", "1"),
            ("A2", "1 5", ""),
            ("A3", "1 close", ""),
        ] {
            let mut bench = Bench::new(TapStage {
                tap: Arc::new(Mutex::new(Box::new(Sieve))),
                stream: Stream::Upstream,
            });
            bench.take(0, Piece::Bytes(chunk.into()));
            assert_eq!(
                (bench.out(9), bench.out(10)),
                (at_once.into(), later.into()),
                "{chunk}"
            );
            bench.take(10, Piece::End);
            assert_eq!(bench.out(10), "3 end");
        }
    }
}
