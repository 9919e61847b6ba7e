//! First and last sign of an outage, by the time it was seen.

const NS_PER_MS: u64 = 1_000_000;

#[derive(Debug, Default)]
pub struct Outages {
    span_ns: Option<(u64, u64)>,
}

impl Outages {
    /// Signs are seen in the order of time.
    pub fn see(&mut self, at_ns: u64) {
        let first_ns = self.span_ns.map_or(at_ns, |(first_ns, _)| first_ns);
        self.span_ns = Some((first_ns, at_ns));
    }

    pub fn first_ms(&self) -> Option<u64> {
        self.span_ns.map(|(first_ns, _)| first_ns / NS_PER_MS)
    }

    pub fn last_ms(&self) -> Option<u64> {
        self.span_ns.map(|(_, last_ns)| last_ns / NS_PER_MS)
    }
}
