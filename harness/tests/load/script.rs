//! A server that does what a script says, down to the bytes: a thread per connection, no HTTP library
//! that would put things right.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// What to do about one request.
#[derive(Debug, Clone)]
pub enum Act {
    /// Write this.
    Write(Vec<u8>),
    /// Write this after a pause.
    WriteAfter(Duration, Vec<u8>),
    /// Write this and close.
    WriteAndClose(Vec<u8>),
    /// Close with an RST.
    Reset,
    /// Never answer on this connection again.
    Stall,
}

/// Runs until it is dropped; connections that stand then go on until the client closes them.
pub struct Script {
    pub address: SocketAddr,
    stopped: Arc<AtomicBool>,
}

impl Script {
    /// `act` gets the number of the request, counted over all connections.
    pub fn run(act: impl Fn(u64) -> Act + Send + Sync + 'static) -> Self {
        Self::run_at("127.0.0.1:0".parse().unwrap(), act)
    }

    pub fn run_at(address: SocketAddr, act: impl Fn(u64) -> Act + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let address = listener.local_addr().unwrap();
        let stopped = Arc::new(AtomicBool::new(false));
        let act = Arc::new(act);
        let requests = Arc::new(AtomicU64::new(0));
        let stop = Arc::clone(&stopped);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                let (act, requests) = (Arc::clone(&act), Arc::clone(&requests));
                thread::spawn(move || serve(stream.unwrap(), &*act, &requests));
            }
        });
        Self { address, stopped }
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::SeqCst);
        // Wakes the listener, so that it sees the mark and frees its port.
        let _ = TcpStream::connect(self.address);
    }
}

/// An answer with a body, as most servers write it.
pub fn answer(status: u16, body: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 {status} X\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

pub fn accepted() -> Vec<u8> {
    answer(202, r#"{"order_id":"o"}"#)
}

fn serve(mut stream: TcpStream, act: &(impl Fn(u64) -> Act + ?Sized), requests: &AtomicU64) {
    let mut received = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        while let Some(len) = request_len(&received) {
            received.drain(..len);
            let number = requests.fetch_add(1, Ordering::SeqCst);
            if !perform(&mut stream, act(number)) {
                return;
            }
        }
        match stream.read(&mut chunk) {
            Ok(0) | Err(_) => return,
            Ok(count) => received.extend_from_slice(&chunk[..count]),
        }
    }
}

/// False: the connection is over.
fn perform(stream: &mut TcpStream, act: Act) -> bool {
    match act {
        Act::Write(bytes) => stream.write_all(&bytes).is_ok(),
        Act::WriteAfter(pause, bytes) => {
            thread::sleep(pause);
            stream.write_all(&bytes).is_ok()
        }
        Act::WriteAndClose(bytes) => {
            let _ = stream.write_all(&bytes);
            false
        }
        Act::Reset => {
            // Closing without lingering sends an RST.
            let _ = socket2::SockRef::from(&*stream).set_linger(Some(Duration::ZERO));
            false
        }
        Act::Stall => {
            let mut rest = Vec::new();
            let _ = stream.read_to_end(&mut rest);
            false
        }
    }
}

/// Length of the request at the start, if it is whole.
fn request_len(received: &[u8]) -> Option<usize> {
    let mut headers = [httparse::EMPTY_HEADER; 16];
    let mut request = httparse::Request::new(&mut headers);
    let httparse::Status::Complete(head) = request.parse(received).unwrap() else {
        return None;
    };
    let body = request
        .headers
        .iter()
        .find(|header| header.name.eq_ignore_ascii_case("content-length"))
        .map_or(0, |header| {
            std::str::from_utf8(header.value).unwrap().parse().unwrap()
        });
    (received.len() >= head + body).then_some(head + body)
}
