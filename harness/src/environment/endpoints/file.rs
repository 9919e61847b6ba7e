//! An endpoints file as written. Every mistake is reported, with its key path.

use std::path::Path;
use std::str::FromStr;

use deserr::Deserr;
use serde_json::{Map, Value};

use super::{DatabaseUrl, Endpoints, HostPort, MysqlEndpoints};
use crate::drill::file::{FileError, optional, read_toml, section, whole};
use crate::drill::problems::Problems;
use crate::faults::KindName;

/// What is not in a section of its own.
#[derive(Debug, Deserr)]
#[deserr(deny_unknown_fields, error = Problems)]
struct Rights {
    #[deserr(default)]
    may_reset: bool,
    #[deserr(default)]
    faults: Vec<KindName>,
}

#[derive(Debug, Deserr)]
#[deserr(deny_unknown_fields, error = Problems)]
struct RedisSection {
    nodes: Vec<String>,
}

#[derive(Debug, Deserr)]
#[deserr(deny_unknown_fields, error = Problems)]
struct MysqlSection {
    url: String,
    #[deserr(default)]
    service_url: Option<String>,
    #[deserr(default)]
    node_url: Option<String>,
    #[deserr(default)]
    replica_url: Option<String>,
}

#[derive(Debug, Deserr)]
#[deserr(deny_unknown_fields, error = Problems)]
struct RocketmqSection {
    name_server: String,
    #[deserr(default)]
    broker: Option<String>,
}

impl Endpoints {
    /// Reads an endpoints file.
    ///
    /// # Errors
    /// Every mistake in it, and every host beyond loopback that it does not allow.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        let mut problems = Problems::default();
        let endpoints = read(path, read_toml(path)?, &mut problems);
        problems.or(endpoints).map_err(|problems| FileError::Wrong {
            path: path.to_owned(),
            problems,
        })
    }
}

fn read(path: &Path, mut map: Map<String, Value>, problems: &mut Problems) -> Option<Endpoints> {
    let hosts: Vec<String> = optional(&mut map, "hosts", problems).unwrap_or_default();
    let redis: Option<RedisSection> = section(&mut map, "redis", problems);
    let mysql: Option<MysqlSection> = section(&mut map, "mysql", problems);
    let rocketmq: Option<RocketmqSection> = section(&mut map, "rocketmq", problems);
    let rights: Option<Rights> = whole(Value::Object(map), "", problems);
    let mut places = Places { hosts, problems };
    let redis = redis.map(|section| places.redis(&section.nodes));
    let mysql = mysql.map(|section| places.mysql(&section));
    let rocketmq = rocketmq.map(|section| {
        let name_server = places.address("rocketmq.name_server", &section.name_server);
        let broker = section.broker.as_deref();
        let broker = broker.map(|broker| places.address("rocketmq.broker", broker));
        (name_server, broker)
    });
    let (rights, (name_server, broker)) = (rights?, rocketmq?);
    Some(Endpoints {
        file: path.to_owned(),
        hosts: places.hosts,
        may_reset: rights.may_reset,
        faults: rights.faults,
        redis: redis?,
        mysql: mysql??,
        name_server: name_server?,
        broker: broker.flatten(),
    })
}

/// Reads addresses, and sees to it that they are loopback or allowed.
struct Places<'p> {
    hosts: Vec<String>,
    problems: &'p mut Problems,
}

impl Places<'_> {
    fn redis(&mut self, nodes: &[String]) -> Vec<HostPort> {
        if nodes.is_empty() {
            let message = "empty: name every node of the cluster";
            self.problems.push("redis.nodes", message);
        }
        let nodes = nodes.iter().enumerate();
        nodes
            .filter_map(|(index, node)| self.address(&format!("redis.nodes[{index}]"), node))
            .collect()
    }

    fn mysql(&mut self, section: &MysqlSection) -> Option<MysqlEndpoints> {
        let mut other = |key: &str, url: &Option<String>| {
            let url = url.as_deref()?;
            self.database(&format!("mysql.{key}"), url)
        };
        let service_url = other("service_url", &section.service_url);
        let node_url = other("node_url", &section.node_url);
        let replica_url = other("replica_url", &section.replica_url);
        let url = self.database("mysql.url", &section.url)?;
        let service_url = service_url.unwrap_or_else(|| url.clone());
        let node_url = node_url.unwrap_or_else(|| service_url.clone());
        let place = |url: &DatabaseUrl| (url.host_port(), url.database().to_owned());
        for (key, account) in [("service_url", &service_url), ("node_url", &node_url)] {
            if place(account) != place(&url) {
                let message = "leads to another database than mysql.url";
                self.problems.push(format!("mysql.{key}"), message);
            }
        }
        let other = |replica: &DatabaseUrl| replica.database() != url.database();
        if replica_url.as_ref().is_some_and(other) {
            let message = "leads to a database of another name than mysql.url";
            self.problems.push("mysql.replica_url", message);
        }
        Some(MysqlEndpoints {
            url,
            service_url,
            node_url,
            replica_url,
        })
    }

    fn address(&mut self, path: &str, text: &str) -> Option<HostPort> {
        let address = self.parsed(path, text)?;
        self.is_allowed(path, &address).then_some(address)
    }

    fn database(&mut self, path: &str, text: &str) -> Option<DatabaseUrl> {
        let url: DatabaseUrl = self.parsed(path, text)?;
        self.is_allowed(path, &url.host_port()).then_some(url)
    }

    fn parsed<T: FromStr<Err = String>>(&mut self, path: &str, text: &str) -> Option<T> {
        let parsed = text.parse();
        parsed.map_err(|wrong| self.problems.push(path, wrong)).ok()
    }

    fn is_allowed(&mut self, path: &str, address: &HostPort) -> bool {
        let host = &address.host;
        let allowed = address.is_loopback() || self.hosts.contains(host);
        if !allowed {
            let message = format!(
                "{host} is beyond loopback; allow it by name if it is yours: hosts = [\"{host}\"]"
            );
            self.problems.push(path, message);
        }
        allowed
    }
}
