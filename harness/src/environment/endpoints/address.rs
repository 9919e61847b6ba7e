//! `host:port`, as written.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::str::FromStr;

use tokio::net::lookup_host;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPort {
    /// An IPv6 address without brackets.
    pub host: String,
    pub port: u16,
}

impl HostPort {
    /// `localhost` is, whatever the resolver says; no other name is.
    pub fn is_loopback(&self) -> bool {
        self.host == "localhost" || self.ip().is_some_and(|ip| ip.is_loopback())
    }

    /// # Errors
    /// The name has no address.
    pub async fn resolve(&self) -> io::Result<SocketAddr> {
        let numeric = match self.host.as_str() {
            "localhost" => Some(IpAddr::from(Ipv4Addr::LOCALHOST)),
            _ => self.ip(),
        };
        if let Some(ip) = numeric {
            return Ok(SocketAddr::new(ip, self.port));
        }
        let mut found = lookup_host((self.host.as_str(), self.port)).await?;
        found
            .next()
            .ok_or_else(|| io::Error::other("the name has no address"))
    }

    fn ip(&self) -> Option<IpAddr> {
        self.host.parse().ok()
    }
}

impl FromStr for HostPort {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no address; expected host:port");
        let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        if bare.is_empty() || (bare.contains(':') && bare.len() + 2 != host.len()) {
            return Err(wrong());
        }
        Ok(Self {
            host: bare.to_owned(),
            port: port.parse().map_err(|_| wrong())?,
        })
    }
}

impl fmt::Display for HostPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port),
            false => write!(f, "{}:{}", self.host, self.port),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_host_and_port_and_tells_loopback() {
        for (text, loopback) in [
            ("127.0.0.1:7000", true),
            ("127.9.0.1:1", true),
            ("[::1]:7000", true),
            ("localhost:7000", true),
            ("localhost.example:7000", false),
            ("10.0.0.1:7000", false),
            ("[::]:7000", false),
        ] {
            let address: HostPort = text.parse().unwrap();
            assert_eq!(address.to_string(), text);
            assert_eq!(address.is_loopback(), loopback, "{text}");
        }
        for text in ["", "127.0.0.1", ":7000", "a:b", "a:70000", "::1:7000"] {
            assert!(text.parse::<HostPort>().is_err(), "{text}");
        }
    }
}
