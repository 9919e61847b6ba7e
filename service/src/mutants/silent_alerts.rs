use super::Mutant;
use crate::parts::Parts;

pub const MUTANT: Mutant = Mutant {
    name: "silent-alerts",
    breaks: "No alert is ever sent.",
    kind: "K18",
    control: "RC-4",
    part: "alerts",
    parts: &SilentAlerts,
};

struct SilentAlerts;

impl Parts for SilentAlerts {
    fn deliveries(&self) -> usize {
        0
    }
}
