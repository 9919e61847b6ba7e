use std::time::Duration;

use super::Mutant;
use crate::parts::Parts;

pub const MUTANT: Mutant = Mutant {
    name: "waits-for-replicas",
    breaks: "A replica's acknowledgement is waited for longer than a primary's answer may take.",
    kind: "K39",
    control: "RD-4",
    part: "acknowledgement of replicas",
    parts: &WaitsForReplicas,
};

struct WaitsForReplicas;

impl Parts for WaitsForReplicas {
    fn replica_patience(&self, _own: Duration) -> Duration {
        Duration::from_secs(5)
    }
}
