//! A listener on a connection that may change what passes: the place for protocol cut points.

use std::fmt::Debug;
use std::net::SocketAddr;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::queue::{Exit, Piece};
use super::stages::Stage;
use super::toxic::Stream;

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
}

/// Makes the taps of a link's connections.
pub trait Tapper: Debug + Send + Sync {
    /// Called once a connection: when it opens, or, when the tapper is set later, at its next chunk.
    fn tap(&self, client: SocketAddr) -> Box<dyn Tap>;
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
        stream: Stream,
    ) -> Box<dyn Stage> {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let tap = match slot.as_ref() {
            Some((made_by, tap)) if Arc::ptr_eq(made_by, tapper) => Arc::clone(tap),
            _ => Arc::new(Mutex::new(tapper.tap(client))),
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
        let Piece::Bytes(bytes) = piece else {
            return exit.at_once(piece);
        };
        let mut steps = Vec::new();
        self.tap
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .chunk(self.stream, &bytes, &mut steps);
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
}
