//! Endpoints whose names have been resolved: once at each start, since names may move.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use super::super::error::EnvironmentError;
use super::{Endpoints, HostPort, Silences};

#[derive(Debug)]
pub(crate) struct Located {
    pub endpoints: Arc<Endpoints>,
    pub redis: Vec<SocketAddr>,
    pub mysql: SocketAddr,
    pub replica: Option<SocketAddr>,
    pub name_server: SocketAddr,
    pub broker: Option<SocketAddr>,
}

impl Located {
    /// # Errors
    /// Every name that has no address.
    pub async fn of(endpoints: &Arc<Endpoints>) -> Result<Self, EnvironmentError> {
        let mut names = Names::default();
        let mut redis = Vec::new();
        for node in &endpoints.redis {
            redis.extend(names.resolve(node).await);
        }
        let mysql = names.resolve(&endpoints.mysql.url.host_port()).await;
        let replica = match &endpoints.mysql.replica_url {
            Some(url) => names.resolve(&url.host_port()).await,
            None => None,
        };
        let name_server = names.resolve(&endpoints.name_server).await;
        let broker = match &endpoints.broker {
            Some(broker) => names.resolve(broker).await,
            None => None,
        };
        let (mysql, name_server) = names.0.or(mysql.zip(name_server))?;
        Ok(Self {
            endpoints: Arc::clone(endpoints),
            redis,
            mysql,
            replica,
            name_server,
            broker,
        })
    }

    /// What may be used beyond loopback, as addresses.
    pub fn allowed(&self) -> Vec<String> {
        let others = [self.replica, self.broker].into_iter().flatten();
        let all = self.redis.iter().copied().chain(others);
        let located = all
            .chain([self.mysql, self.name_server])
            .map(|one| one.ip());
        let hosts = self.endpoints.hosts.iter();
        let written = hosts.filter_map(|host| host.parse::<IpAddr>().ok());
        let beyond = located.chain(written).filter(|ip| !ip.is_loopback());
        beyond.map(|ip| ip.to_string()).collect()
    }

    pub fn allows(&self, address: SocketAddr) -> bool {
        address.ip().is_loopback() || self.allowed().contains(&address.ip().to_string())
    }
}

#[derive(Default)]
struct Names(Silences);

impl Names {
    async fn resolve(&mut self, endpoint: &HostPort) -> Option<SocketAddr> {
        let found = endpoint.resolve().await;
        let found = found.map_err(|error| {
            EnvironmentError::step(&endpoint.host, "looking up its address", error)
        });
        self.0.hear(found)
    }
}
