use super::Mutant;
use crate::parts::Parts;

pub const MUTANT: Mutant = Mutant {
    name: "relay-skips-failed",
    breaks: "The relay takes what it could not send for sent.",
    kind: "K17",
    control: "MQ-9",
    part: "outbox",
    parts: &RelaySkipsFailed,
};

struct RelaySkipsFailed;

impl Parts for RelaySkipsFailed {
    fn is_sent(&self, _is_sent: bool) -> bool {
        true
    }
}
