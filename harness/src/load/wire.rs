//! Bytes to and from a server: plain TCP, or TLS over it.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;

use mio::net::TcpStream;
use mio::{Interest, Registry, Token};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

/// How to speak TLS to one server.
#[derive(Clone)]
pub struct Tls {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

/// TLS that cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("`{0}` cannot stand in a certificate; use the server's name or address")]
    Name(String),
    #[error("the certificate authority cannot be used: {0}; expected PEM certificates")]
    Authority(String),
    #[error("TLS cannot be set up: {0}")]
    Setup(#[from] rustls::Error),
}

impl Tls {
    /// Trusts the certificates of `authority` (PEM), or the system's.
    pub(super) fn new(host: &str, authority: Option<&[u8]>) -> Result<Self, TlsError> {
        let name = host
            .trim_start_matches('[')
            .trim_end_matches(']')
            .to_owned();
        let name = ServerName::try_from(name).map_err(|_| TlsError::Name(host.to_owned()))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots(authority)?)
            .with_no_client_auth();
        Ok(Self {
            config: Arc::new(config),
            name,
        })
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tls({:?})", self.name)
    }
}

fn roots(authority: Option<&[u8]>) -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    let Some(pem) = authority else {
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        return Ok(roots);
    };
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate = certificate.map_err(|error| TlsError::Authority(error.to_string()))?;
        roots.add(certificate)?;
    }
    if roots.is_empty() {
        return Err(TlsError::Authority("no certificate in it".to_owned()));
    }
    Ok(roots)
}

/// A connection on its way or open. Never blocks.
pub enum Wire {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

/// How far a connection has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opening {
    Pending,
    Done,
    Failed,
}

impl Wire {
    /// Starts to connect; the registry tells under `token` when there is more to do.
    pub fn connect(
        address: SocketAddr,
        tls: Option<&Tls>,
        registry: &Registry,
        token: Token,
    ) -> io::Result<Self> {
        let mut stream = TcpStream::connect(address)?;
        registry.register(&mut stream, token, Interest::READABLE | Interest::WRITABLE)?;
        Ok(match tls {
            None => Self::Plain(stream),
            Some(Tls { config, name }) => {
                let session = ClientConnection::new(Arc::clone(config), name.clone())
                    .map_err(io::Error::other)?;
                Self::Tls(Box::new(StreamOwned::new(session, stream)))
            }
        })
    }

    /// Takes the opening as far as it goes: the connect, then the handshake.
    pub fn open(&mut self) -> Opening {
        let connected = connected(self.socket());
        match (self, connected) {
            (Self::Tls(stream), Opening::Done) if stream.conn.is_handshaking() => {
                match stream.conn.complete_io(&mut stream.sock) {
                    Ok(_) => Opening::Done,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => Opening::Pending,
                    Err(error) => {
                        tracing::warn!(%error, "TLS handshake failed");
                        Opening::Failed
                    }
                }
            }
            (_, connected) => connected,
        }
    }

    fn socket(&self) -> &TcpStream {
        match self {
            Self::Plain(stream) => stream,
            Self::Tls(stream) => &stream.sock,
        }
    }

    /// A read that fills less than its space has emptied the connection; with TLS more may be decrypted behind.
    pub fn short_read_is_all(&self) -> bool {
        matches!(self, Self::Plain(_))
    }
}

fn connected(stream: &TcpStream) -> Opening {
    if let Ok(Some(_)) | Err(_) = stream.take_error() {
        return Opening::Failed;
    }
    match stream.peer_addr() {
        // On loopback a socket may meet itself when nobody listens: it would answer our requests
        // with our requests, and keep the server from its port.
        Ok(peer) if stream.local_addr().is_ok_and(|own| own == peer) => Opening::Failed,
        Ok(_) if stream.set_nodelay(true).is_ok() => Opening::Done,
        Err(error) if error.kind() == io::ErrorKind::NotConnected => Opening::Pending,
        Ok(_) | Err(_) => Opening::Failed,
    }
}

impl Read for Wire {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(space),
            Self::Tls(stream) => stream.read(space),
        }
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.write(bytes),
            Self::Tls(stream) => stream.write(bytes),
        }
    }

    /// With TLS: writes what was encrypted and not yet taken by the kernel.
    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(_) => Ok(()),
            Self::Tls(stream) => stream.flush(),
        }
    }
}

impl fmt::Debug for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(stream) => stream.fmt(f),
            Self::Tls(stream) => write!(f, "Tls({:?})", stream.sock),
        }
    }
}
