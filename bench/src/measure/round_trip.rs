//! What a lone request waits on the idle server: the least that anybody can.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::Instant;

use crate::machine;

const WARM_UP: usize = 100;
const REQUESTS: usize = 500;
const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: bench\r\n\r\n";

/// The median over some requests on one connection, from a thread on the tools' core.
pub fn median_us(server: SocketAddr, core: Option<usize>) -> io::Result<f64> {
    let client = thread::spawn(move || {
        if let Some(core) = core {
            machine::pin_this_thread(core)?;
        }
        measure(server)
    });
    client
        .join()
        .map_err(|_| io::Error::other("the client panicked"))?
}

fn measure(server: SocketAddr) -> io::Result<f64> {
    let mut stream = TcpStream::connect(server)?;
    stream.set_nodelay(true)?;
    // The whole answer fits, and the server writes it at once.
    let mut answer = [0; 4096];
    let mut waits_us = Vec::with_capacity(REQUESTS);
    for _ in 0..WARM_UP + REQUESTS {
        let sent = Instant::now();
        stream.write_all(REQUEST)?;
        if stream.read(&mut answer)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        waits_us.push(sent.elapsed().as_nanos() as f64 / 1e3);
    }
    let measured = &mut waits_us[WARM_UP..];
    measured.sort_by(f64::total_cmp);
    Ok(measured[measured.len() / 2])
}
