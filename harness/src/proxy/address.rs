//! Which addresses a link may listen on and lead to: loopback, and hosts allowed by name.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use tokio::net::{TcpSocket, TcpStream, lookup_host};

use super::error::ProxyError;

/// Servers see proxied clients come from this address, so that a client that bypasses the proxy
/// can be told from them.
pub const DIAL_FROM: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 3);

/// Hosts beyond loopback that may be used, written as in the requests that name them.
#[derive(Debug, Clone, Default)]
pub struct Allowed(Vec<String>);

impl Allowed {
    pub fn new(hosts: Vec<String>) -> Self {
        Self(hosts)
    }

    /// Without a listener named, a port of 127.0.0.1 is chosen.
    ///
    /// # Errors
    /// Not `address:port`, or a host that is not allowed.
    pub fn listen(&self, text: &str) -> Result<SocketAddr, ProxyError> {
        if text.is_empty() {
            return Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
        }
        let (_, port) = self.host_port("listen", text)?;
        numeric(text, port).ok_or_else(|| ProxyError::BadAddress {
            what: "listen",
            address: text.to_owned(),
        })
    }

    /// # Errors
    /// Not `host:port`, or a host that is not allowed.
    pub fn upstream(&self, text: &str) -> Result<Upstream, ProxyError> {
        let (_, port) = self.host_port("upstream", text)?;
        Ok(Upstream {
            text: text.to_owned(),
            numeric: numeric(text, port),
        })
    }

    fn host_port<'a>(
        &self,
        what: &'static str,
        text: &'a str,
    ) -> Result<(&'a str, u16), ProxyError> {
        let address = text.to_owned();
        let parts = text
            .rsplit_once(':')
            .and_then(|(host, port)| Some((host, port.parse().ok()?)));
        let Some((host, port)) = parts else {
            return Err(ProxyError::BadAddress { what, address });
        };
        let is_loopback = numeric(text, port).is_some_and(|a| a.ip().is_loopback());
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        if is_loopback || self.0.iter().any(|allowed| allowed == bare) {
            Ok((host, port))
        } else {
            Err(ProxyError::NotAllowed { what, address })
        }
    }
}

/// `localhost` is 127.0.0.1 whatever the resolver says: servers of a test listen there.
fn numeric(text: &str, port: u16) -> Option<SocketAddr> {
    if text.starts_with("localhost:") {
        return Some(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    }
    text.parse().ok()
}

/// Where a link leads. A name is resolved anew at every dial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upstream {
    text: String,
    numeric: Option<SocketAddr>,
}

impl Upstream {
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// # Errors
    /// The name has no address, or nobody answers there.
    pub async fn dial(&self) -> io::Result<TcpStream> {
        let address = match self.numeric {
            Some(address) => address,
            None => lookup_host(&self.text)
                .await?
                .next()
                .ok_or(io::ErrorKind::NotFound)?,
        };
        let socket = match address.ip() {
            IpAddr::V4(_) => TcpSocket::new_v4()?,
            IpAddr::V6(_) => TcpSocket::new_v6()?,
        };
        if address.is_ipv4() && address.ip().is_loopback() {
            socket.bind(SocketAddr::from((DIAL_FROM, 0)))?;
        }
        let stream = socket.connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serves_loopback_and_allowed_hosts_only() {
        let strict = Allowed::default();
        let open = Allowed::new(vec!["0.0.0.0".into(), "db.staging".into()]);
        for text in ["127.0.0.9:80", "localhost:80", "[::1]:80", ""] {
            assert!(strict.listen(text).is_ok(), "{text}");
        }
        for text in [
            "0.0.0.0:80",
            "10.0.0.1:80",
            "[::]:80",
            ":80",
            "db.staging:80",
        ] {
            let refused = strict.upstream(text).unwrap_err();
            assert!(
                matches!(refused, ProxyError::NotAllowed { .. }),
                "{refused}"
            );
        }
        assert!(open.listen("0.0.0.0:80").is_ok());
        assert_eq!(
            open.upstream("db.staging:80").unwrap().as_str(),
            "db.staging:80"
        );
        assert!(open.upstream("db.staging.evil:80").is_err());
        for text in ["", "127.0.0.1", "127.0.0.1:http", "db.staging"] {
            let refused = open.upstream(text).unwrap_err();
            assert!(
                matches!(refused, ProxyError::BadAddress { .. }),
                "{refused}"
            );
        }
    }
}
