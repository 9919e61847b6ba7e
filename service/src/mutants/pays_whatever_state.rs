use std::borrow::Cow;

use super::{Mutant, reworded};
use crate::parts::Parts;
use crate::store::PAY;

pub const MUTANT: Mutant = Mutant {
    name: "pays-whatever-state",
    breaks: "A payment is written whatever state the order is in.",
    kind: "K23",
    control: "BZ-5",
    part: "SQL",
    parts: &PaysWhateverState,
};

struct PaysWhateverState;

impl Parts for PaysWhateverState {
    fn statement(&self, text: &'static str) -> Cow<'static, str> {
        reworded(text, PAY, "AND state = 'created'", "")
    }
}
