//! A narrow link.

use crate::drill::range::Count;
use crate::faults::kind::kind;
use crate::faults::link_toxic::{LinkToxic, some};
use crate::faults::links::{Links, Streams};
use crate::proxy::toxic::Effect;
use crate::proxy::traffic::Traffic;

kind! {
    /// Lets links carry only so much, each connection for itself.
    pub struct LinkBandwidth {
        /// Names of links; `*` stands for any text.
        pub links: Links,
        /// `upstream` (towards the server), `downstream` or `both`.
        pub stream: Streams = Streams::Both,
        /// KB a second.
        pub rate_kb_s: Count,
    }
}

impl LinkToxic for LinkBandwidth {
    fn links(&self) -> &Links {
        &self.links
    }

    fn streams(&self) -> Streams {
        self.stream
    }

    fn effect(&self) -> Effect {
        Effect::Bandwidth {
            rate: self.rate_kb_s.get().into(),
        }
    }

    fn words(&self) -> String {
        format!("at most {} KB/s a connection", self.rate_kb_s.get())
    }

    fn evidence(&self, since: &Traffic) -> Result<String, &'static str> {
        some(
            since.delayed_bytes(),
            "bytes made to wait",
            "nothing flowed that had to wait",
        )
    }
}
