//! Small talk with a listener, to see whether it lives.

use std::fmt;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Why there was no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Silence {
    Refused,
    /// Neither accepted nor refused in time.
    NoConnection(Duration),
    /// Accepted, and then not a byte in time.
    NoAnswer(Duration),
    /// Accepted, and then closed or reset without a byte.
    Closed,
}

impl fmt::Display for Silence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused => f.write_str("the connect was refused"),
            Self::NoConnection(waited) => write!(f, "no connection within {waited:?}"),
            Self::NoAnswer(waited) => write!(f, "no answer within {waited:?}"),
            Self::Closed => f.write_str("closed without an answer"),
        }
    }
}

/// Connects.
pub(crate) async fn connect(address: SocketAddr, within: Duration) -> Result<TcpStream, Silence> {
    match timeout(within, TcpStream::connect(address)).await {
        Ok(Ok(stream)) => Ok(stream),
        Ok(Err(error)) if error.kind() == ErrorKind::ConnectionRefused => Err(Silence::Refused),
        Ok(Err(_)) => Err(Silence::Closed),
        Err(_) => Err(Silence::NoConnection(within)),
    }
}

/// How long the other side takes to close after we have.
pub(crate) async fn closing_time(
    address: SocketAddr,
    within: Duration,
) -> Result<Duration, Silence> {
    let mut stream = connect(address, within).await?;
    let begun = Instant::now();
    let close = async {
        stream.shutdown().await?;
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).await
    };
    match timeout(within, close).await {
        Ok(_) => Ok(begun.elapsed()),
        Err(_) => Err(Silence::NoAnswer(within)),
    }
}
