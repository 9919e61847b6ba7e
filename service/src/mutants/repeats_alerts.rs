use super::Mutant;
use crate::parts::Parts;

pub const MUTANT: Mutant = Mutant {
    name: "repeats-alerts",
    breaks: "Every alert is sent twice.",
    kind: "K16",
    control: "RC-4",
    part: "alerts",
    parts: &RepeatsAlerts,
};

struct RepeatsAlerts;

impl Parts for RepeatsAlerts {
    fn deliveries(&self) -> usize {
        2
    }
}
