//! The processes of the comparison, each on a free loopback port, all ended when dropped.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::scratch::Scratch;

const READY_WITHIN: Duration = Duration::from_secs(20);
const POLL: Duration = Duration::from_millis(20);
const CALL_TIMEOUT: Duration = Duration::from_secs(10);

/// A running program.
#[derive(Debug)]
pub struct Program(Child);

impl Program {
    /// Starts it and waits until it listens.
    pub fn start(mut command: Command, address: SocketAddr, scratch: &Scratch) -> io::Result<Self> {
        let log = scratch.path().join("log");
        let file = File::create(&log)?;
        command
            .current_dir(scratch.path())
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file);
        let mut program = Self(command.spawn()?);
        let deadline = Instant::now() + READY_WITHIN;
        while TcpStream::connect(address).is_err() {
            let ended = program.0.try_wait()?;
            if ended.is_some() || Instant::now() > deadline {
                let said = fs::read_to_string(&log).unwrap_or_default();
                return Err(io::Error::other(format!(
                    "{command:?} does not listen on {address}: {said}"
                )));
            }
            thread::sleep(POLL);
        }
        Ok(program)
    }

    pub fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // An error says that it has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[derive(Debug)]
pub struct Redis {
    pub address: SocketAddr,
    _program: Program,
}

impl Redis {
    pub fn start(scratch: &Scratch) -> io::Result<Self> {
        let address = free_address()?;
        let mut command = Command::new("redis-server");
        command
            // Protected mode takes 127.0.0.3, where the built-in proxy dials from, for another machine.
            .args(["--bind", "127.0.0.1", "--protected-mode", "no"])
            .args(["--save", "", "--port", &address.port().to_string()]);
        Ok(Self {
            _program: Program::start(command, address, scratch)?,
            address,
        })
    }
}

pub fn free_address() -> io::Result<SocketAddr> {
    TcpListener::bind("127.0.0.1:0")?.local_addr()
}

/// One call of a proxy's API.
pub fn call(api: SocketAddr, method: &str, path: &str, body: &str) -> io::Result<()> {
    let mut stream = TcpStream::connect(api)?;
    stream.set_read_timeout(Some(CALL_TIMEOUT))?;
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nhost: {api}\r\nconnection: close\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    if answer.starts_with("HTTP/1.1 2") {
        return Ok(());
    }
    Err(io::Error::other(format!(
        "{method} {path} answered {answer}"
    )))
}
