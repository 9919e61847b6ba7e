//! A tool as a child process: its output, and the CPU that it used.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::TimeVal;

/// Tools start, wait for late answers and write their reports beside the time that they were given.
const GRACE: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(10);

#[derive(Debug)]
pub struct Finished {
    /// What it printed on its standard output.
    pub printed: String,
    /// User and system time of the process and its children.
    pub cpu_us: f64,
}

#[derive(Debug, thiserror::Error)]
pub enum ChildError {
    #[error("cannot be run: {0}")]
    Io(#[from] io::Error),
    #[error("ended with {status}: {errors}")]
    Failed { status: ExitStatus, errors: String },
    #[error("was still running {0:?} after its time, and was killed")]
    Overran(Duration),
}

/// Runs the command to its end. Children of this process must run one after the other: the kernel keeps one sum
/// for all that have ended.
pub fn run(
    mut command: Command,
    scratch: &Path,
    duration_ms: u64,
    is_done: impl Fn(ExitStatus) -> bool,
) -> Result<Finished, ChildError> {
    let (out, err) = (scratch.join("stdout"), scratch.join("stderr"));
    let before = used_us()?;
    let mut child = command
        .stdin(Stdio::null())
        .stdout(File::create(&out)?)
        .stderr(File::create(&err)?)
        .spawn()?;
    let status = wait(&mut child, Duration::from_millis(duration_ms) + GRACE)?;
    let cpu_us = used_us()? - before;
    if !is_done(status) {
        let errors = text(&err)?;
        let errors = errors.trim().to_owned();
        return Err(ChildError::Failed { status, errors });
    }
    let printed = text(&out)?;
    Ok(Finished { printed, cpu_us })
}

fn wait(child: &mut Child, limit: Duration) -> Result<ExitStatus, ChildError> {
    let deadline = Instant::now() + limit;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if Instant::now() >= deadline {
            child.kill()?;
            child.wait()?;
            return Err(ChildError::Overran(GRACE));
        }
        thread::sleep(POLL);
    }
}

/// CPU time of all children that have ended.
fn used_us() -> io::Result<f64> {
    let usage: Usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let us = |time: TimeVal| time.tv_sec() as f64 * 1e6 + time.tv_usec() as f64;
    Ok(us(usage.user_time()) + us(usage.system_time()))
}

fn text(path: &Path) -> io::Result<String> {
    Ok(String::from_utf8_lossy(&fs::read(path)?).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    fn sh(script: &str) -> Result<Finished, ChildError> {
        let scratch = Scratch::new(&format!("child-{}", script.len())).unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        run(command, scratch.path(), 1, |status| status.success())
    }

    /// One test, since the sum over ended children is one for the whole process.
    #[test]
    fn output_cpu_and_failure_of_a_child() {
        let idle = sh("echo hello; sleep 0.01").unwrap();
        assert_eq!(idle.printed, "hello\n");
        let busy = sh("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo $i").unwrap();
        assert_eq!(busy.printed, "200000\n");
        assert!(busy.cpu_us > idle.cpu_us, "{busy:?} {idle:?}");
        let failed = sh("echo broken >&2; exit 3").unwrap_err().to_string();
        assert!(failed.contains("exit status: 3: broken"), "{failed}");
    }
}
