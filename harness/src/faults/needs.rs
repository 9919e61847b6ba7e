//! Faults that cannot or must not take place where they are planned, so that a drill is refused before anything starts.

use std::fmt;

use super::kind::Need;
use super::links::{Links, matches};
use super::{Fault, PlannedFault};
use crate::environment::Setting;
use crate::proxy::ProxyKind;
use crate::target::Target;

/// Where faults are to take place.
#[derive(Debug, Clone, Copy)]
pub struct Grounds<'g> {
    pub setting: &'g Setting,
    pub target: &'g Target,
    pub service_nodes: usize,
}

/// A planned fault that cannot take place here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmet {
    /// Place among the planned faults.
    pub index: usize,
    pub kind: &'static str,
    pub lack: Lack,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lack {
    Need(Need),
    /// The owner of the servers allows others; what they are, and where it says so.
    Leave {
        file: String,
        allowed: String,
    },
}

impl fmt::Display for Unmet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { index, kind, lack } = self;
        write!(f, "faults[{index}]: {kind} {lack}")
    }
}

impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Need(need) => write!(f, "needs {need}"),
            Self::Leave { file, allowed } => {
                write!(f, "is not among the faults that {file} allows ({allowed})")
            }
        }
    }
}

/// Everything that keeps `faults` from taking place on these grounds.
pub fn unmet(faults: &[PlannedFault], grounds: Grounds<'_>) -> Vec<Unmet> {
    let of = |(index, planned): (usize, &PlannedFault)| {
        let kind = planned.fault.kind();
        let lacks = grounds.lacks(&planned.fault).into_iter();
        lacks
            .map(|lack| Unmet { index, kind, lack })
            .collect::<Vec<_>>()
    };
    faults.iter().enumerate().flat_map(of).collect()
}

impl Grounds<'_> {
    fn lacks(self, fault: &Fault) -> Vec<Lack> {
        let needs = needs(fault).into_iter().filter(|need| !self.has(need));
        self.no_leave(fault)
            .into_iter()
            .chain(needs.map(Lack::Need))
            .collect()
    }

    fn has(self, need: &Need) -> bool {
        let layout = self.setting.layout();
        match need {
            Need::OwnServers => layout.is_ours,
            Need::MysqlReplica => layout.has_replica,
            Need::Links(pattern) => {
                let mut names = layout.names(self.service_nodes).into_iter();
                names.any(|name| matches(pattern, &name))
            }
            Need::BuiltInProxy => self.setting.proxy() == ProxyKind::BuiltIn,
            Need::Failpoints => !self.target.start.failpoint_command.is_empty(),
            Need::Root => nix::unistd::geteuid().is_root(),
            Need::Mounts => self.setting.can_mount(),
        }
    }

    /// To servers of ours everything may be done.
    fn no_leave(self, fault: &Fault) -> Option<Lack> {
        let theirs = self.setting.endpoints()?;
        let kinds: Vec<&str> = theirs.faults.iter().map(|kind| kind.as_str()).collect();
        let allowed = match kinds.as_slice() {
            [] => "none".to_owned(),
            some => some.join(", "),
        };
        let file = theirs.file.display().to_string();
        (!kinds.contains(&fault.kind())).then_some(Lack::Leave { file, allowed })
    }
}

/// Those of its kind, and the links that it names.
fn needs(fault: &Fault) -> Vec<Need> {
    let mut needs = fault.about().needs.to_vec();
    let links = fault.links();
    let patterns = links.iter().flat_map(Links::patterns);
    needs.extend(patterns.map(|pattern| Need::Links(pattern.clone().into())));
    needs
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::drill::range::Count;
    use crate::environment::{Endpoints, Environment, MysqlEndpoints};
    use crate::faults::{
        BrokerKill, CacheStockRaise, KindName, LinkDown, Links, MysqlReplicaLag,
        RedisReplicationCut,
    };

    fn faults() -> Vec<PlannedFault> {
        let one = Count::new(1).unwrap();
        let links = |pattern: &str| Links::new(vec![pattern.to_owned()]).unwrap();
        let faults = [
            Fault::CacheStockRaise(CacheStockRaise {
                sku: one,
                units: one,
            }),
            Fault::BrokerKill(BrokerKill { cut_requests_ms: 0 }),
            Fault::RedisReplicationCut(RedisReplicationCut { sku: one }),
            Fault::MysqlReplicaLag(MysqlReplicaLag {}),
            Fault::LinkDown(LinkDown {
                links: links("service-1-redis-*"),
            }),
            Fault::LinkDown(LinkDown {
                links: links("redis-bus-*"),
            }),
        ];
        let planned = |fault| PlannedFault {
            at_ms: 0,
            for_ms: None,
            fault,
        };
        faults.map(planned).into()
    }

    fn told(setting: &Setting) -> Vec<String> {
        told_of(&faults(), setting)
    }

    fn told_of(faults: &[PlannedFault], setting: &Setting) -> Vec<String> {
        let grounds = Grounds {
            setting,
            target: &Target::default(),
            service_nodes: 2,
        };
        let unmet = unmet(faults, grounds);
        unmet.iter().map(ToString::to_string).collect()
    }

    fn attached(faults: &[&str]) -> Setting {
        let url = "mysql://u:p@127.0.0.1/shop";
        let kind = |name: &&str| KindName::new(name).unwrap();
        let endpoints = Endpoints {
            file: "staging.toml".into(),
            hosts: Vec::new(),
            may_reset: true,
            faults: faults.iter().map(kind).collect(),
            redis: vec!["127.0.0.1:7000".parse().unwrap()],
            mysql: MysqlEndpoints {
                url: url.parse().unwrap(),
                service_url: url.parse().unwrap(),
                node_url: url.parse().unwrap(),
                replica_url: None,
            },
            name_server: "127.0.0.1:9876".parse().unwrap(),
            broker: None,
        };
        Setting {
            environment: Environment::Attached(Arc::new(endpoints)),
            proxy: None,
        }
    }

    #[test]
    fn servers_of_ours_may_have_every_fault() {
        assert_eq!(told(&Setting::default()), Vec::<String>::new());
    }

    #[test]
    fn servers_of_others_have_what_is_allowed_and_can_be_done() {
        let all = faults();
        let kinds: Vec<&str> = all.iter().map(|planned| planned.fault.kind()).collect();
        assert_eq!(
            told(&attached(&kinds)),
            [
                "faults[1]: broker_kill needs servers that flashdrill has started",
                "faults[2]: redis_replication_cut needs links that are called `redis-replication-*`",
                "faults[3]: mysql_replica_lag needs a replica of MySQL",
                "faults[5]: link_down needs links that are called `redis-bus-*`",
            ]
        );
        let told = told(&attached(&["link_down"]));
        let refusal = "faults[0]: cache_stock_raise is not among the faults that staging.toml allows (link_down)";
        assert_eq!(told[0], refusal);
        assert_eq!(
            told.len(),
            8,
            "four refused, and four that cannot be: {told:?}"
        );
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
            let setting = Setting {
                environment: Environment::Native,
                proxy: Some(ProxyKind::Toxiproxy),
            };
            let told = told_of(&[fault], &setting);
            assert_eq!(!told.is_empty(), is_unmet, "{link}: {told:?}");
        }
    }
}
