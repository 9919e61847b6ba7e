//! A link on which everything waits.

use crate::faults::kind::kind;
use crate::faults::link_toxic::{LinkToxic, some};
use crate::faults::links::{Links, Streams};
use crate::proxy::toxic::Effect;
use crate::proxy::traffic::Traffic;

kind! {
    /// Holds back what flows on links and loses nothing: it goes on when healed.
    pub struct LinkStall {
        /// Names of links; `*` stands for any text.
        pub links: Links,
        /// `upstream` (towards the server), `downstream` or `both`.
        pub stream: Streams = Streams::Both,
    }
}

impl LinkToxic for LinkStall {
    fn links(&self) -> &Links {
        &self.links
    }

    fn streams(&self) -> Streams {
        self.stream
    }

    fn effect(&self) -> Effect {
        Effect::Stall {}
    }

    fn words(&self) -> String {
        "everything held back".to_owned()
    }

    fn evidence(&self, since: &Traffic) -> Result<String, &'static str> {
        some(
            since.held_back_bytes(),
            "bytes held back",
            "nothing flowed that could be held back",
        )
    }
}
