//! What a client sees that sends a text over a new connection, to a server that sends it back.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};

/// What was sent: enough for a few slices, and for a slow link to be seen.
pub const SENT: usize = 1_000;
/// Long enough that a busy machine is not taken for a stall.
const PATIENCE: Duration = Duration::from_secs(5);
/// Long enough to see that nothing comes.
const QUIET: Duration = Duration::from_millis(500);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// All came back, and nothing else happened.
    Open,
    /// Something is missing, and nothing happened for a while.
    Silent,
    Closed,
    Reset,
    Refused,
}

#[derive(Debug)]
pub struct Sight {
    pub bytes: usize,
    pub end: End,
    pub took: Duration,
}

/// Sends, reads until all is back or the connection has ended, then says goodbye when all is back and
/// waits for the answer: `Closed` after that is `Open`.
pub async fn look(listen: SocketAddr) -> Sight {
    let begun = Instant::now();
    let Ok(mut stream) = TcpStream::connect(listen).await else {
        return Sight {
            bytes: 0,
            end: End::Refused,
            took: begun.elapsed(),
        };
    };
    let text: Vec<u8> = (0..SENT).map(|i| (i % 251) as u8).collect();
    // It fails when the connection is reset before all is sent; reading tells.
    let _ = stream.write_all(&text).await;
    let mut back = Vec::new();
    let end = loop {
        let patience = if back.is_empty() {
            PATIENCE.min(QUIET * 2)
        } else {
            PATIENCE
        };
        match timeout(patience, stream.read_buf(&mut back)).await {
            Err(_) => break End::Silent,
            Ok(Ok(0)) => break End::Closed,
            Ok(Ok(_)) if back.len() == text.len() => break after_all(&mut stream).await,
            Ok(Ok(_)) => {}
            Ok(Err(_)) => break End::Reset,
        }
    };
    assert!(text.starts_with(&back), "what comes back is what was sent");
    Sight {
        bytes: back.len(),
        end,
        took: begun.elapsed(),
    }
}

async fn after_all(stream: &mut TcpStream) -> End {
    match timeout(QUIET, stream.read(&mut [0; 1])).await {
        Err(_) => End::Open,
        Ok(Ok(0)) => End::Closed,
        Ok(Ok(_)) => panic!("more comes back than was sent"),
        Ok(Err(_)) => End::Reset,
    }
}
