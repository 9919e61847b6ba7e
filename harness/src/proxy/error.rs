//! Why the proxy refused or failed.

use std::io;
use std::net::SocketAddr;

/// Errors of the built-in proxy. Those of the REST API carry the HTTP status Toxiproxy uses.
#[derive(Debug, thiserror::Error)]
pub enum ProxyError {
    #[error("proxy `{name}` not found; GET /proxies lists them")]
    NoSuchProxy { name: String },
    #[error("proxy `{name}` already exists; use POST /proxies/{name} or /populate to change it")]
    ProxyExists { name: String },
    #[error("toxic `{toxic}` not found on proxy `{proxy}`")]
    NoSuchToxic { proxy: String, toxic: String },
    #[error("toxic `{toxic}` already exists on proxy `{proxy}`")]
    ToxicExists { proxy: String, toxic: String },
    #[error("cut `{cut}` not found on proxy `{proxy}`")]
    NoSuchCut { proxy: String, cut: String },
    #[error("cut `{cut}` already exists on proxy `{proxy}`")]
    CutExists { proxy: String, cut: String },
    #[error(
        "`{kind}` is no toxic; there are latency, bandwidth, slow_close, timeout, reset_peer, slicer, limit_data, stall, unreachable"
    )]
    NoSuchType { kind: String },
    #[error("stream `{stream}` is neither upstream nor downstream")]
    NoSuchStream { stream: String },
    #[error("lease `{id}` not found; PUT /leases/{id} makes one")]
    NoSuchLease { id: String },
    #[error("missing required field: {field}")]
    MissingField { field: String },
    #[error("{what} `{address}` is not loopback, and its host is not among those allowed by name")]
    NotAllowed { what: &'static str, address: String },
    #[error("{what} `{address}` is not an address like 127.0.0.1:6379")]
    BadAddress { what: &'static str, address: String },
    #[error("bad request body: {reason}")]
    BadBody { reason: String },
    #[error("proxy `{name}` cannot listen on {listen}: {source}")]
    Listen {
        name: String,
        listen: SocketAddr,
        source: io::Error,
    },
    #[error(
        "proxy `{name}` cannot be made unreachable, the kernel takes no socket filter: {source}"
    )]
    Filter { name: String, source: io::Error },
    #[error("the proxy's API cannot start: {source}")]
    Start { source: io::Error },
    #[error("proxy API {method} {path}: {reason}")]
    Call {
        method: &'static str,
        path: String,
        reason: String,
    },
    #[error("proxy API {method} {path} answered {status}: {reason}")]
    Answer {
        method: &'static str,
        path: String,
        status: u16,
        reason: String,
    },
}

impl ProxyError {
    /// HTTP status of the API's answer.
    pub fn status(&self) -> u16 {
        match self {
            Self::NoSuchProxy { .. }
            | Self::NoSuchToxic { .. }
            | Self::NoSuchCut { .. }
            | Self::NoSuchLease { .. } => 404,
            Self::ProxyExists { .. } | Self::ToxicExists { .. } | Self::CutExists { .. } => 409,
            Self::NoSuchType { .. }
            | Self::NoSuchStream { .. }
            | Self::MissingField { .. }
            | Self::NotAllowed { .. }
            | Self::BadAddress { .. }
            | Self::BadBody { .. } => 400,
            _ => 500,
        }
    }

    /// What Toxiproxy answers in this case, word for word: clients compare it.
    pub fn toxiproxy_text(&self) -> String {
        let text = match self {
            Self::NoSuchProxy { .. } => "proxy not found",
            Self::ProxyExists { .. } => "proxy already exists",
            Self::NoSuchToxic { .. } => "toxic not found",
            Self::ToxicExists { .. } => "toxic already exists",
            Self::NoSuchType { .. } => "invalid toxic type",
            Self::NoSuchStream { .. } => "stream was invalid, can be either upstream or downstream",
            _ => return self.to_string(),
        };
        text.to_owned()
    }

    /// The listener's port was taken by somebody else.
    pub fn is_port_in_use(&self) -> bool {
        match self {
            Self::Listen { source, .. } => source.kind() == io::ErrorKind::AddrInUse,
            // Rust and Go begin it differently.
            Self::Answer { reason, .. } => reason.contains("ddress already in use"),
            _ => false,
        }
    }
}
