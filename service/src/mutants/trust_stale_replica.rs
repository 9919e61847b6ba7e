use super::Mutant;
use crate::parts::Parts;

pub const MUTANT: Mutant = Mutant {
    name: "trust-stale-replica",
    breaks: "Redis is rebuilt from MySQL's replica, however far that is behind.",
    kind: "K39",
    control: "DB-7",
    part: "rebuild",
    parts: &TrustStaleReplica,
};

struct TrustStaleReplica;

impl Parts for TrustStaleReplica {
    fn trusts_replica(&self) -> bool {
        true
    }
}
