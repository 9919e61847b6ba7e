//! A link on which everything is lost.

use crate::faults::kind::kind;
use crate::faults::link_toxic::{LinkToxic, some};
use crate::faults::links::{Links, Streams};
use crate::proxy::toxic::Effect;
use crate::proxy::traffic::Traffic;

kind! {
    /// Swallows what flows on links; connections stay open until it is healed, then they are closed.
    pub struct LinkBlackHole {
        /// Names of links; `*` stands for any text.
        pub links: Links,
        /// `upstream` (towards the server), `downstream` or `both`.
        pub stream: Streams = Streams::Both,
    }
}

impl LinkToxic for LinkBlackHole {
    fn links(&self) -> &Links {
        &self.links
    }

    fn streams(&self) -> Streams {
        self.stream
    }

    fn effect(&self) -> Effect {
        Effect::Timeout { timeout: 0 }
    }

    fn words(&self) -> String {
        "everything swallowed".to_owned()
    }

    fn evidence(&self, since: &Traffic) -> Result<String, &'static str> {
        some(
            since.held_back_bytes(),
            "bytes swallowed",
            "nothing flowed that could be swallowed",
        )
    }
}
