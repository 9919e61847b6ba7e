//! What each effect does to one direction of one connection, one a file.
//!
//! A stage turns pieces that come in into pieces with a time to go on. It never sleeps and never writes:
//! the copy loop does, so that no stage can hang a heal.

mod bandwidth;
mod latency;
mod limit_data;
mod reset_peer;
mod slicer;
mod slow_close;
mod stall;
mod timeout;

use std::fmt::Debug;

use super::copy::READ_BYTES;
use super::dice::Dice;
use super::effect::Effect;
use super::queue::{Exit, Piece};

pub trait Stage: Debug + Send {
    /// Called once, when the stage meets the connection.
    fn begin(&mut self, _exit: &mut Exit<'_>) {}

    fn take(&mut self, piece: Piece, exit: &mut Exit<'_>);

    /// Takes bytes that nothing waits before. Answers whether all may go on as they are, at once.
    fn take_bytes(&mut self, bytes: &[u8], exit: &mut Exit<'_>) -> bool {
        self.take(Piece::Bytes(bytes.to_vec()), exit);
        false
    }

    /// Bytes that may wait at the exit before the stage takes no more: a slow link must push back on a
    /// fast sender.
    fn room_bytes(&self) -> usize {
        READ_BYTES
    }

    /// Whether the stream has a hole, so that the connection cannot go on without the stage.
    fn has_swallowed(&self) -> bool {
        false
    }
}

/// `None` for effects that are not on the stream.
pub fn stage(effect: Effect, seed: u64) -> Option<Box<dyn Stage>> {
    let dice = Dice::new(seed);
    Some(match effect {
        Effect::Latency { latency, jitter } => {
            Box::new(latency::Latency::new(latency, jitter, dice))
        }
        Effect::Bandwidth { rate } => Box::new(bandwidth::Bandwidth::new(rate)),
        Effect::SlowClose { delay } => Box::new(slow_close::SlowClose::new(delay)),
        Effect::Timeout { timeout } => Box::new(timeout::Timeout::new(timeout)),
        Effect::ResetPeer { timeout } => Box::new(reset_peer::ResetPeer::new(timeout)),
        Effect::Slicer {
            average_size,
            size_variation,
            delay,
        } => Box::new(slicer::Slicer::new(
            average_size,
            size_variation,
            delay,
            dice,
        )),
        Effect::LimitData { bytes } => Box::new(limit_data::LimitData::new(bytes)),
        Effect::Stall {} => Box::new(stall::Stall),
        Effect::Unreachable {} => return None,
    })
}

/// A stage at work without a connection, for the tests of stages.
#[cfg(test)]
pub mod bench {
    use std::sync::Arc;
    use std::time::Duration;

    use tokio::time::Instant;

    use super::super::queue::{Exit, Piece, Queue};
    use super::super::toxic::Stream;
    use super::super::traffic::{Counters, DirectionTraffic, Meter};
    use super::Stage;

    pub struct Bench<S> {
        stage: S,
        queue: Queue,
        meter: Meter,
        begun: Instant,
    }

    impl<S: Stage> Bench<S> {
        pub fn new(stage: S) -> Self {
            let meter = Meter {
                stream: Stream::Upstream,
                link: Arc::new(Counters::default()),
                connection: Arc::new(Counters::default()),
            };
            let mut bench = Self {
                stage,
                queue: Queue::default(),
                meter,
                begun: Instant::now(),
            };
            bench.with_exit(0, Stage::begin);
            bench
        }

        pub fn take(&mut self, at_ms: u64, piece: Piece) {
            self.with_exit(at_ms, |stage, exit| stage.take(piece, exit));
        }

        pub fn bytes(&mut self, at_ms: u64, count: usize) {
            self.take(at_ms, Piece::Bytes(vec![7; count]));
        }

        /// What has come out by then: byte counts of chunks, and how it ends.
        pub fn out(&mut self, by_ms: u64) -> String {
            let by = self.begun + Duration::from_millis(by_ms);
            let mut out = Vec::new();
            while let Some(piece) = self.queue.pop_due(by) {
                out.push(match piece {
                    Piece::Bytes(bytes) => bytes.len().to_string(),
                    Piece::End => "end".to_owned(),
                    Piece::Reset => "reset".to_owned(),
                    Piece::Cut => "cut".to_owned(),
                    Piece::Close => "close".to_owned(),
                    Piece::ResetClient => "reset client".to_owned(),
                });
            }
            out.join(" ")
        }

        pub fn has_swallowed(&self) -> bool {
            self.stage.has_swallowed()
        }

        pub fn traffic(&self) -> DirectionTraffic {
            self.meter.link.direction(Stream::Upstream)
        }

        fn with_exit(&mut self, at_ms: u64, act: impl FnOnce(&mut S, &mut Exit<'_>)) {
            let mut exit = Exit {
                queue: &mut self.queue,
                meter: &self.meter,
                now: self.begun + Duration::from_millis(at_ms),
            };
            act(&mut self.stage, &mut exit);
        }
    }
}
