//! Pipelined requests at a fixed rate, whatever comes back: open loop, charged from the intended time.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use serde::Serialize;

/// Requests that are due are written together this often, on one connection at a time.
const TICK: Duration = Duration::from_micros(250);
/// Answers that are later than this are an error.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);
const REQUEST: &[u8] = b"*3\r\n$3\r\nSET\r\n$8\r\nbench-01\r\n$8\r\n12345678\r\n";
const ANSWER: &[u8] = b"+OK\r\n";
const NS_PER_S: u64 = 1_000_000_000;

#[derive(Debug, Clone, Copy, Serialize)]
pub struct Load {
    pub per_s: u64,
    pub connections: usize,
    pub duration_ms: u64,
}

/// From the intended time of each request to its answer.
#[derive(Debug)]
pub struct Latencies {
    pub answered: u64,
    pub us: Histogram<u64>,
}

impl Load {
    /// # Errors
    /// A connection fails, or an answer is late or is not `+OK`.
    pub fn run(&self, address: SocketAddr) -> io::Result<Latencies> {
        let connections = (0..self.connections)
            .map(|_| connect(address))
            .collect::<io::Result<Vec<_>>>()?;
        let start = Instant::now() + TICK;
        thread::scope(|scope| {
            let mut readers = Vec::new();
            for (index, connection) in connections.iter().enumerate() {
                readers.push(scope.spawn(move || self.read(index, connection, start)));
            }
            self.write(&connections, start)?;
            let mut all = Latencies {
                answered: 0,
                us: histogram(),
            };
            for reader in readers {
                let read = reader
                    .join()
                    .map_err(|_| io::Error::other("a reader panicked"))??;
                all.answered += read.len();
                all.us.add(&read).map_err(io::Error::other)?;
            }
            Ok(all)
        })
    }

    /// A tick's requests go out together; the next tick's on the next connection.
    fn write(&self, connections: &[TcpStream], start: Instant) -> io::Result<()> {
        let mut sent = 0;
        for tick in 1..=self.ticks() {
            let due = start + TICK * tick;
            thread::sleep(due.saturating_duration_since(Instant::now()));
            let until = self.due_at(tick);
            let batch = REQUEST.repeat((until - sent) as usize);
            let mut connection = &connections[self.connection_of(tick)];
            connection.write_all(&batch)?;
            sent = until;
        }
        Ok(())
    }

    /// The connection's answers, in the order of its requests.
    fn read(
        &self,
        index: usize,
        mut connection: &TcpStream,
        start: Instant,
    ) -> io::Result<Histogram<u64>> {
        let mut us = histogram();
        let mut buffer = vec![0; 64 << 10];
        let (mut filled, mut taken) = (0, 0);
        for tick in (1..=self.ticks()).filter(|tick| self.connection_of(*tick) == index) {
            for request in self.due_at(tick - 1)..self.due_at(tick) {
                while filled - taken < ANSWER.len() {
                    buffer.copy_within(taken..filled, 0);
                    (filled, taken) = (filled - taken, 0);
                    match connection.read(&mut buffer[filled..])? {
                        0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                        count => filled += count,
                    }
                }
                let answer = &buffer[taken..taken + ANSWER.len()];
                if answer != ANSWER {
                    let text = String::from_utf8_lossy(answer);
                    return Err(io::Error::other(format!("Redis answered `{text}`")));
                }
                taken += ANSWER.len();
                let intended = start + Duration::from_nanos(request * NS_PER_S / self.per_s);
                let late = Instant::now().saturating_duration_since(intended);
                us.saturating_record(u64::try_from(late.as_micros()).unwrap_or(u64::MAX));
            }
        }
        Ok(us)
    }

    fn ticks(&self) -> u32 {
        let ticks = u128::from(self.duration_ms) * 1_000_000 / TICK.as_nanos();
        u32::try_from(ticks).unwrap_or(u32::MAX)
    }

    /// How many requests are due by then.
    fn due_at(&self, tick: u32) -> u64 {
        u64::from(tick) * TICK.as_nanos() as u64 * self.per_s / NS_PER_S
    }

    fn connection_of(&self, tick: u32) -> usize {
        tick as usize % self.connections
    }
}

fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(ANSWER_WITHIN))?;
    Ok(stream)
}

/// Up to a minute, to three digits.
fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, 60_000_000, 3).expect("the bounds are in order")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    /// Answers each request, all connections on threads of their own.
    fn server(answer: &'static [u8]) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                thread::spawn(move || {
                    let mut request = [0; REQUEST.len()];
                    while stream.read_exact(&mut request).is_ok() {
                        stream.write_all(answer).unwrap();
                    }
                });
            }
        });
        address
    }

    #[test]
    fn every_request_of_the_schedule_is_sent_and_answered() {
        let load = Load {
            per_s: 2_500,
            connections: 3,
            duration_ms: 200,
        };
        let latencies = load.run(server(ANSWER)).unwrap();
        assert_eq!((latencies.answered, latencies.us.len()), (500, 500));
        let refused = load.run(server(b"-ERR\n")).unwrap_err().to_string();
        assert!(refused.contains("-ERR"), "{refused}");
    }
}
