//! Faults that need what the environment has not, so that a drill that cannot work is refused before anything starts.

use std::fmt;

use super::kind::Need;
use super::{Fault, Links, PlannedFault};
use crate::environment::links;
use crate::proxy::ProxyKind;

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

/// Everything that `faults` need and the environment, with so many service nodes, has not.
pub fn unmet(
    faults: &[PlannedFault],
    service_nodes: usize,
    has: impl Fn(Need) -> bool,
) -> Vec<Unmet> {
    let of = |(index, planned): (usize, &PlannedFault)| {
        let needs = needs(&planned.fault, service_nodes);
        let missing = needs.into_iter().filter(|need| !has(*need));
        missing
            .map(|need| Unmet {
                index,
                kind: planned.fault.kind(),
                need,
            })
            .collect::<Vec<_>>()
    };
    faults.iter().enumerate().flat_map(of).collect()
}

/// What the kind needs, and what the links that it names do.
fn needs(fault: &Fault, service_nodes: usize) -> Vec<Need> {
    let mut needs = fault.about().needs.to_vec();
    let everywhere = links::names(service_nodes, ProxyKind::Toxiproxy);
    let is_idle = |named: Links| named.idle(&everywhere).is_some();
    if !needs.contains(&Need::BuiltInProxy) && fault.links().is_some_and(is_idle) {
        needs.push(Need::BuiltInProxy);
    }
    needs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drill::range::Count;
    use crate::faults::{BrokerKill, CacheStockRaise, LinkDown};

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
        assert_eq!(unmet(&faults, 1, |_| true), []);
        let missing = unmet(&faults, 1, |need| need != Need::OwnServers);
        let text: Vec<String> = missing.iter().map(ToString::to_string).collect();
        let expected = "faults[1]: broker_kill needs servers that flashdrill has started";
        assert_eq!(text, [expected]);
    }

    #[test]
    fn only_the_built_in_proxy_has_links_to_the_broker_for_each_node() {
        for (link, is_unmet) in [
            ("service-1-broker", true),
            ("service-*-broker", true),
            ("*-broker", false),
            ("service-1-*", false),
            ("rocketmq-broker", false),
        ] {
            let links = Links::new(vec![link.to_owned()]).unwrap();
            let fault = PlannedFault {
                at_ms: 0,
                for_ms: None,
                fault: Fault::LinkDown(LinkDown { links }),
            };
            let missing = unmet(&[fault], 2, |need| need != Need::BuiltInProxy);
            assert_eq!(!missing.is_empty(), is_unmet, "{link}");
        }
    }
}
