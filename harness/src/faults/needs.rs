//! Faults that need what the environment has not, so that a drill that cannot work is refused before anything starts.

use std::fmt;

use super::PlannedFault;
use super::kind::Need;

/// A planned fault that cannot take place here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmet {
    /// Place among the planned faults.
    pub index: usize,
    pub kind: &'static str,
    pub need: Need,
}

impl fmt::Display for Unmet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { index, kind, need } = self;
        write!(f, "faults[{index}]: {kind} needs {need}")
    }
}

/// Everything that `faults` need and the environment has not.
pub fn unmet(faults: &[PlannedFault], has: impl Fn(Need) -> bool) -> Vec<Unmet> {
    let of = |(index, planned): (usize, &PlannedFault)| {
        let about = planned.fault.about();
        let missing = about.needs.iter().filter(|need| !has(**need));
        missing
            .map(|need| Unmet {
                index,
                kind: about.kind,
                need: *need,
            })
            .collect::<Vec<_>>()
    };
    faults.iter().enumerate().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drill::range::Count;
    use crate::faults::{BrokerKill, CacheStockRaise, Fault};

    #[test]
    fn what_is_missing_is_named_with_its_fault() {
        let one = Count::new(1).unwrap();
        let faults = [
            Fault::CacheStockRaise(CacheStockRaise {
                sku: one,
                units: one,
            }),
            Fault::BrokerKill(BrokerKill { cut_requests_ms: 0 }),
        ];
        let faults = faults.map(|fault| PlannedFault {
            at_ms: 0,
            for_ms: None,
            fault,
        });
        assert_eq!(unmet(&faults, |_| true), []);
        let missing = unmet(&faults, |need| need != Need::OwnServers);
        let text: Vec<String> = missing.iter().map(ToString::to_string).collect();
        let expected = "faults[1]: broker_kill needs servers that flashdrill has started";
        assert_eq!(text, [expected]);
    }
}
