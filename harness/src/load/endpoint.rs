//! Where the load goes: addresses of this machine, or a host that was allowed by name.

use std::net::{Ipv4Addr, SocketAddr, TcpStream, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::Url;

use super::wire::{Tls, TlsError};

const KNOCK_TIMEOUT: Duration = Duration::from_secs(2);

/// A server that load may be sent to; there is no way to make one that may not.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// Of its nodes, at least one.
    addresses: Vec<SocketAddr>,
    /// What the Host header says, to whatever node.
    pub(super) authority: String,
    pub(super) tls: Option<Tls>,
}

/// A server that load must not or cannot be sent to.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    #[error("`{url}` is no address to load: {reason}; write http://host:port/path")]
    Url { url: String, reason: String },
    #[error("cannot find the host {host}: {source}")]
    Unresolved {
        host: String,
        source: std::io::Error,
    },
    #[error(
        "{host} ({address}) is not this machine; load goes to loopback addresses, or to hosts allowed by name (--allow-host {host})"
    )]
    NotAllowed { host: String, address: SocketAddr },
    #[error(transparent)]
    Tls(#[from] TlsError),
    #[error("{path}: {source}")]
    Authority {
        path: PathBuf,
        source: std::io::Error,
    },
}

/// What makes more hosts or certificates good than by default.
#[derive(Debug, Clone, Default)]
pub struct Trust {
    /// Hosts beyond this machine that may be loaded, as the URL names them.
    pub hosts: Vec<String>,
    /// PEM file of the certificate authority to trust; None: the system's.
    pub authority: Option<PathBuf>,
}

impl Endpoint {
    /// A port of this machine.
    pub fn local(port: u16) -> Self {
        Self::plain(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))
    }

    /// Its nodes' ports of this machine; the first one names it. None: there is no port.
    pub fn local_nodes(ports: impl IntoIterator<Item = u16>) -> Option<Self> {
        let address = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let addresses: Vec<_> = ports.into_iter().map(address).collect();
        let first = *addresses.first()?;
        Some(Self {
            addresses,
            ..Self::plain(first)
        })
    }

    /// The node that the connection or buyer of this number goes to: one after the other.
    pub fn address(&self, number: usize) -> SocketAddr {
        self.addresses[self.node(number)]
    }

    /// The place of that node among all.
    pub fn node(&self, number: usize) -> usize {
        number % self.addresses.len()
    }

    /// An address of this machine.
    ///
    /// # Errors
    /// It is another machine's.
    pub fn at(address: SocketAddr) -> Result<Self, EndpointError> {
        if address.ip().is_loopback() {
            return Ok(Self::plain(address));
        }
        Err(EndpointError::NotAllowed {
            host: address.ip().to_string(),
            address,
        })
    }

    /// Whether anything listens there.
    ///
    /// # Errors
    /// Why not, within two seconds a node.
    pub fn knock(&self) -> std::io::Result<()> {
        let knock = |node| TcpStream::connect_timeout(node, KNOCK_TIMEOUT).map(drop);
        self.addresses.iter().try_for_each(knock)
    }

    /// `host:port` as it is written in requests.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    fn plain(address: SocketAddr) -> Self {
        Self {
            addresses: vec![address],
            authority: address.to_string(),
            tls: None,
        }
    }

    /// The server of an `http` or `https` URL, its name looked up once.
    ///
    /// # Errors
    /// No such URL or host, a host that `trust` does not allow, certificates that cannot be read.
    pub fn of_url(url: &Url, trust: &Trust) -> Result<Self, EndpointError> {
        let wrong = |reason: &str| EndpointError::Url {
            url: url.to_string(),
            reason: reason.to_owned(),
        };
        if !matches!(url.scheme(), "http" | "https") {
            return Err(wrong("neither http nor https"));
        }
        let host = url.host_str().ok_or_else(|| wrong("no host in it"))?;
        let port = url
            .port_or_known_default()
            .ok_or_else(|| wrong("no port in it"))?;
        let address = lookup(host, port)?;
        if !address.ip().is_loopback() && !trust.hosts.iter().any(|allowed| allowed == host) {
            let host = host.to_owned();
            return Err(EndpointError::NotAllowed { host, address });
        }
        let tls = match url.scheme() {
            "https" => Some(Tls::new(
                host,
                trust.authority.as_deref().map(read).transpose()?.as_deref(),
            )?),
            _ => None,
        };
        Ok(Self {
            addresses: vec![address],
            authority: url
                .port()
                .map_or(host.to_owned(), |port| format!("{host}:{port}")),
            tls,
        })
    }
}

fn read(path: &Path) -> Result<Vec<u8>, EndpointError> {
    std::fs::read(path).map_err(|source| EndpointError::Authority {
        path: path.to_owned(),
        source,
    })
}

fn lookup(host: &str, port: u16) -> Result<SocketAddr, EndpointError> {
    // An IPv6 host stands in brackets in a URL.
    let name = host.trim_start_matches('[').trim_end_matches(']');
    let unresolved = |source| EndpointError::Unresolved {
        host: host.to_owned(),
        source,
    };
    let none = || std::io::Error::new(std::io::ErrorKind::NotFound, "it has no address");
    (name, port)
        .to_socket_addrs()
        .map_err(unresolved)?
        .next()
        .ok_or_else(|| unresolved(none()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(url: &str, hosts: &[&str]) -> Result<Endpoint, EndpointError> {
        let trust = Trust {
            hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
            authority: None,
        };
        Endpoint::of_url(&Url::parse(url).unwrap(), &trust)
    }

    #[test]
    fn only_this_machine_and_hosts_allowed_by_name_are_loaded() {
        for (url, hosts, allowed) in [
            ("http://127.0.0.1:8080/a", &[][..], true),
            ("http://[::1]:8080/", &[], true),
            ("http://192.0.2.1/", &[], false),
            ("http://192.0.2.1/", &["192.0.2.2"], false),
            ("http://192.0.2.1/", &["192.0.2.1"], true),
            ("http://0.0.0.0:80/", &[], false),
            ("http://[2001:db8::1]/", &[], false),
        ] {
            match of(url, hosts) {
                Ok(_) => assert!(allowed, "{url}"),
                Err(error) => {
                    assert!(!allowed, "{url}: {error}");
                    assert!(error.to_string().contains("--allow-host"), "{error}");
                }
            }
        }
    }

    #[test]
    fn a_url_is_host_and_port() {
        for (url, address, authority) in [
            ("http://127.0.0.1", "127.0.0.1:80", "127.0.0.1"),
            ("http://127.0.0.1:81/x?y", "127.0.0.1:81", "127.0.0.1:81"),
            ("http://[::1]:82", "[::1]:82", "[::1]:82"),
        ] {
            let endpoint = of(url, &[]).unwrap();
            assert_eq!(endpoint.address(0).to_string(), address);
            assert_eq!(endpoint.authority, authority);
        }
        assert!(of("ftp://127.0.0.1/", &[]).is_err());
    }

    #[test]
    fn connections_go_round_the_nodes() {
        let nodes = Endpoint::local_nodes([81, 82, 83]).unwrap();
        let ports: Vec<u16> = (0..5).map(|at| nodes.address(at).port()).collect();
        assert_eq!(ports, [81, 82, 83, 81, 82]);
        assert_eq!(nodes.authority(), "127.0.0.1:81");
        assert!(Endpoint::local_nodes([]).is_none());
    }
}
