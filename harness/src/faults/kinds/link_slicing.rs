//! A link that cuts what it carries into small pieces.

use crate::drill::range::Count;
use crate::faults::kind::kind;
use crate::faults::link_toxic::{LinkToxic, some};
use crate::faults::links::{Links, Streams};
use crate::proxy::toxic::Effect;
use crate::proxy::traffic::Traffic;

kind! {
    /// Cuts what flows on links into slices, sent one by one.
    pub struct LinkSlicing {
        /// Names of links; `*` stands for any text.
        pub links: Links,
        /// `upstream` (towards the server), `downstream` or `both`.
        pub stream: Streams = Streams::Both,
        /// Bytes of a slice, on average.
        pub slice_bytes: Count = Count::new(64).expect("64 is in range"),
        /// Give or take up to so many bytes.
        pub variation_bytes: u64 = 0,
        /// Between two slices, microseconds.
        pub delay_us: u64 = 100,
    }
}

impl LinkToxic for LinkSlicing {
    fn links(&self) -> &Links {
        &self.links
    }

    fn streams(&self) -> Streams {
        self.stream
    }

    fn effect(&self) -> Effect {
        Effect::Slicer {
            average_size: self.slice_bytes.get().into(),
            size_variation: self.variation_bytes,
            delay: self.delay_us,
        }
    }

    fn words(&self) -> String {
        format!(
            "slices of {} bytes, {} µs apart",
            self.slice_bytes.get(),
            self.delay_us
        )
    }

    fn evidence(&self, since: &Traffic) -> Result<String, &'static str> {
        some(
            since.delayed_bytes(),
            "bytes sent late, in slices",
            "nothing flowed that was longer than a slice",
        )
    }
}
