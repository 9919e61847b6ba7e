//! Chunks that wait for their time under a latency toxic.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Bytes that may wait in one direction of one connection before reading stops. A delayed link must
/// still push back on a fast sender.
const WAITING_BYTES_MAX: usize = 4 << 20;

/// A queue in order of arrival. A chunk never overtakes the one before it, whatever the jitter.
#[derive(Debug)]
pub struct Delay {
    chunks: VecDeque<(Instant, Vec<u8>)>,
    waiting_bytes: usize,
    seed: u64,
    drawn: u64,
}

impl Delay {
    pub fn new(seed: u64) -> Self {
        Self {
            chunks: VecDeque::new(),
            waiting_bytes: 0,
            seed,
            drawn: 0,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    pub fn has_room(&self) -> bool {
        self.waiting_bytes < WAITING_BYTES_MAX
    }

    /// When the first chunk is due.
    pub fn due(&self) -> Option<Instant> {
        self.chunks.front().map(|(due, _)| *due)
    }

    pub fn push(&mut self, now: Instant, bytes: &[u8], latency_ms: u64, jitter_ms: u64) {
        let delay = Duration::from_millis(self.draw_ms(latency_ms, jitter_ms));
        let after_last = self.chunks.back().map_or(now, |(due, _)| *due);
        self.chunks
            .push_back(((now + delay).max(after_last), bytes.to_vec()));
        self.waiting_bytes += bytes.len();
    }

    pub fn pop(&mut self) -> Option<Vec<u8>> {
        let (_, bytes) = self.chunks.pop_front()?;
        self.waiting_bytes -= bytes.len();
        Some(bytes)
    }

    /// Uniform in latency ± jitter, never negative.
    fn draw_ms(&mut self, latency_ms: u64, jitter_ms: u64) -> u64 {
        if jitter_ms == 0 {
            return latency_ms;
        }
        self.drawn += 1;
        let roll = xxh3_64_with_seed(&self.drawn.to_le_bytes(), self.seed);
        (latency_ms + roll % (2 * jitter_ms + 1)).saturating_sub(jitter_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jitter_stays_in_its_band_and_order_is_kept() {
        let now = Instant::now();
        let mut delay = Delay::new(3);
        let mut last = now;
        for _ in 0..1_000 {
            let drawn = delay.draw_ms(100, 30);
            assert!((70..=130).contains(&drawn), "{drawn}");
            delay.push(now, b"x", 100, 30);
            let (due, _) = *delay.chunks.back().as_ref().unwrap();
            assert!(*due >= last);
            last = *due;
        }
    }

    #[test]
    fn a_full_queue_has_no_room_until_it_drains() {
        let mut delay = Delay::new(0);
        delay.push(Instant::now(), &vec![0; WAITING_BYTES_MAX], 1, 0);
        assert!(!delay.has_room());
        assert_eq!(delay.pop().map(|b| b.len()), Some(WAITING_BYTES_MAX));
        assert!(delay.has_room() && delay.is_empty() && delay.due().is_none());
    }
}
