//! One direction of one connection: read, apply the toxics of the moment, write.
//!
//! Without a toxic this is a plain copy loop; toxics are looked at when bytes arrive, which is the
//! only time they matter, so that an idle link costs nothing.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::{Instant, sleep_until};

use super::delay::Delay;
use super::toxic::{Effect, Stream, Toxic};
use super::traffic::Counters;

/// Large enough that a pipelined burst is one read and one write.
const BUFFER_BYTES: usize = 128 << 10;

/// The toxics of a link. The generation tells copy loops that their view of them is old.
#[derive(Debug, Default)]
pub struct Toxics {
    generation: AtomicU64,
    list: Mutex<Vec<Toxic>>,
}

impl Toxics {
    pub fn list(&self) -> Vec<Toxic> {
        self.list
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub fn change<T>(&self, change: impl FnOnce(&mut Vec<Toxic>) -> T) -> T {
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        let result = change(&mut list);
        self.generation.fetch_add(1, Ordering::Release);
        result
    }
}

/// What the toxics mean for one direction of one connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Shape {
    black_hole: bool,
    latency_ms: u64,
    jitter_ms: u64,
}

/// What a copy loop needs to know of its link.
#[derive(Debug)]
pub struct Direction {
    pub stream: Stream,
    pub connection: u64,
    pub seed: u64,
    pub toxics: Arc<Toxics>,
    pub counters: Arc<Counters>,
}

impl Direction {
    fn shape(&self) -> Shape {
        let mut shape = Shape::default();
        for toxic in self.toxics.list() {
            if toxic.stream != self.stream || !toxic.hits(self.seed, self.connection) {
                continue;
            }
            match toxic.effect {
                Effect::Timeout { .. } => shape.black_hole = true,
                Effect::Latency { latency, jitter } => {
                    shape.latency_ms += latency;
                    shape.jitter_ms += jitter;
                }
            }
        }
        shape
    }
}

/// Copies until the source ends, then closes the sink's write side.
///
/// # Errors
/// Either socket's; the caller closes the connection then.
pub async fn copy(
    mut from: OwnedReadHalf,
    to: OwnedWriteHalf,
    direction: Direction,
) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut flow = Flow::new(to, direction);
    let mut ended = false;
    loop {
        match flow.delay.due() {
            None if ended => return flow.to.shutdown().await,
            None => match from.read(&mut buffer).await? {
                0 => ended = true,
                n => flow.arrive(&buffer[..n]).await?,
            },
            Some(due) => tokio::select! {
                biased;
                () = sleep_until(due) => flow.release().await?,
                read = from.read(&mut buffer), if !ended && flow.delay.has_room() => match read? {
                    0 => ended = true,
                    n => flow.arrive(&buffer[..n]).await?,
                },
            },
        }
    }
}

/// The sending end, with the chunks that wait before it.
struct Flow {
    to: OwnedWriteHalf,
    direction: Direction,
    delay: Delay,
    shape: Shape,
    generation: u64,
}

impl Flow {
    fn new(to: OwnedWriteHalf, direction: Direction) -> Self {
        let generation = direction.toxics.generation.load(Ordering::Acquire);
        let delay = Delay::new(direction.seed ^ direction.connection ^ direction.stream as u64);
        Self {
            to,
            shape: direction.shape(),
            direction,
            delay,
            generation,
        }
    }

    async fn arrive(&mut self, bytes: &[u8]) -> io::Result<()> {
        let generation = self.direction.toxics.generation.load(Ordering::Acquire);
        if generation != self.generation {
            self.generation = generation;
            self.shape = self.direction.shape();
        }
        if self.shape.black_hole {
            self.direction
                .counters
                .of(self.direction.stream)
                .add_held_back(bytes.len());
            return Ok(());
        }
        // Chunks in flight when a latency ends keep their time; what follows queues behind them.
        if self.shape.latency_ms + self.shape.jitter_ms > 0 || !self.delay.is_empty() {
            let (latency_ms, jitter_ms) = (self.shape.latency_ms, self.shape.jitter_ms);
            self.delay
                .push(Instant::now(), bytes, latency_ms, jitter_ms);
            return Ok(());
        }
        self.forward(bytes).await
    }

    async fn release(&mut self) -> io::Result<()> {
        match self.delay.pop() {
            Some(bytes) => self.forward(&bytes).await,
            None => Ok(()),
        }
    }

    async fn forward(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.to.write_all(bytes).await?;
        self.direction
            .counters
            .of(self.direction.stream)
            .add_forwarded(bytes.len());
        Ok(())
    }
}
