use std::time::Duration;

use super::Mutant;
use crate::parts::Parts;

pub const MUTANT: Mutant = Mutant {
    name: "waits-for-dead-pulls",
    breaks: "The consumer waits as long as its library does for the answer to a pull whose connection is gone.",
    kind: "K19",
    control: "MQ-11",
    part: "consumer's pulls",
    parts: &WaitsForDeadPulls,
};

struct WaitsForDeadPulls;

impl Parts for WaitsForDeadPulls {
    fn pull_patience(&self, _own: Duration) -> Duration {
        Duration::from_secs(30)
    }
}
