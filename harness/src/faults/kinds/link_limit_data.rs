//! Connections that end in the middle of what they carry.

use crate::drill::range::Count;
use crate::faults::kind::kind;
use crate::faults::link_toxic::{LinkToxic, some};
use crate::faults::links::{Links, Streams};
use crate::proxy::toxic::Effect;
use crate::proxy::traffic::Traffic;

kind! {
    /// Closes connections of links once so many bytes have passed.
    pub struct LinkLimitData {
        /// Names of links; `*` stands for any text.
        pub links: Links,
        /// `upstream` (towards the server), `downstream` or `both`.
        pub stream: Streams = Streams::Downstream,
        /// Bytes that pass, in one direction of one connection.
        pub bytes: Count,
    }
}

impl LinkToxic for LinkLimitData {
    fn links(&self) -> &Links {
        &self.links
    }

    fn streams(&self) -> Streams {
        self.stream
    }

    fn effect(&self) -> Effect {
        Effect::LimitData {
            bytes: self.bytes.get().into(),
        }
    }

    fn words(&self) -> String {
        format!("closed after {} bytes", self.bytes.get())
    }

    fn evidence(&self, since: &Traffic) -> Result<String, &'static str> {
        some(
            since.connections_cut,
            "connections closed at the limit",
            "no connection carried so many bytes",
        )
    }
}
