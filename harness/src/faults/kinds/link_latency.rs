//! A slow link.

use crate::drill::range::Count;
use crate::faults::kind::kind;
use crate::faults::link_toxic::{LinkToxic, some};
use crate::faults::links::{Links, Streams};
use crate::proxy::toxic::Effect;
use crate::proxy::traffic::Traffic;

kind! {
    /// Delays what flows on links.
    pub struct LinkLatency {
        /// Names of links; `*` stands for any text.
        pub links: Links,
        /// `upstream` (towards the server), `downstream` or `both`.
        pub stream: Streams = Streams::Both,
        /// Each chunk is delayed by so much, ms.
        pub latency_ms: Count,
        /// Give or take up to so much, ms.
        pub jitter_ms: u64 = 0,
    }
}

impl LinkToxic for LinkLatency {
    fn links(&self) -> &Links {
        &self.links
    }

    fn streams(&self) -> Streams {
        self.stream
    }

    fn effect(&self) -> Effect {
        Effect::Latency {
            latency: self.latency_ms.get().into(),
            jitter: self.jitter_ms,
        }
    }

    fn words(&self) -> String {
        format!("{} ms ± {} ms later", self.latency_ms.get(), self.jitter_ms)
    }

    fn evidence(&self, since: &Traffic) -> Result<String, &'static str> {
        some(
            since.delayed_bytes(),
            "bytes delayed",
            "nothing flowed that could be delayed",
        )
    }
}
