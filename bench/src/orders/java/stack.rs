//! The servers of the drills, kept by `flashdrill up` until this is dropped.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::error::JavaError;
use crate::tool::program::on_path;

/// The variable that tells a service where RocketMQ is.
const NAME_SERVER: &str = "rocketmq_namesrv";
/// It stops in a few seconds.
const STOPS_WITHIN: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(50);

pub struct Stack {
    up: Child,
    /// Through the fault proxy, as a service has it.
    pub name_server: String,
}

impl Stack {
    /// Starts it and waits until it is whole; it says itself when a server does not come up.
    ///
    /// # Errors
    /// Flashdrill cannot be run, or it brought up no stack.
    pub fn start(flashdrill: &Path, logs: &Path) -> Result<Self, JavaError> {
        let mut command = told_of_our_end(flashdrill);
        command.args(["up", "--logs"]).arg(logs);
        let up = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut stack = Self {
            up,
            name_server: String::new(),
        };
        stack.name_server = stack.await_name_server()?;
        Ok(stack)
    }

    pub fn pid(&self) -> u32 {
        self.up.id()
    }

    /// It prints its addresses once it is whole.
    fn await_name_server(&mut self) -> Result<String, JavaError> {
        // Borrowed: the pipe stays open for whatever it prints later.
        let printed = self.up.stdout.as_mut().ok_or(JavaError::NoStack)?;
        for line in BufReader::new(printed).lines() {
            if let Some(address) = value_of(NAME_SERVER, &line?) {
                return Ok(address.to_owned());
            }
        }
        Err(JavaError::NoStack)
    }
}

/// It keeps its servers until it is told to stop: this process may be killed without being able to.
fn told_of_our_end(flashdrill: &Path) -> Command {
    let Some(setpriv) = on_path("setpriv") else {
        return Command::new(flashdrill);
    };
    let mut command = Command::new(setpriv);
    command.args(["--pdeathsig", "TERM", "--"]).arg(flashdrill);
    command
}

fn value_of<'a>(name: &str, line: &'a str) -> Option<&'a str> {
    let mut words = line.split_whitespace();
    (words.next() == Some(name)).then(|| words.next())?
}

impl Drop for Stack {
    fn drop(&mut self) {
        // Errors say that it has ended already.
        if let Ok(pid) = i32::try_from(self.up.id()) {
            let _ = kill(Pid::from_raw(pid), Signal::SIGTERM);
        }
        let deadline = Instant::now() + STOPS_WITHIN;
        while let Ok(None) = self.up.try_wait() {
            if Instant::now() > deadline {
                let _ = self.up.kill();
            }
            thread::sleep(POLL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_taken_from_what_it_prints() {
        let printed = "\
Servers:
  rocketmq-namesrv    Apache RocketMQ 5.3.3
For a service (behind the fault proxy):
  rocketmq_namesrv    127.0.0.1:40961
Direct, past the proxy:
  rocketmq-broker     127.0.0.2:33011";
        let found = printed.lines().find_map(|line| value_of(NAME_SERVER, line));
        assert_eq!(found, Some("127.0.0.1:40961"));
        assert_eq!(value_of(NAME_SERVER, "  rocketmq_namesrv"), None);
    }
}
