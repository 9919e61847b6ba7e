//! The end of the harness: Ctrl-C leaves nothing; at kill -9 the servers die with it, and a later
//! sweep removes the rest.

use std::io::{BufRead, BufReader, Lines};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use flashdrill::environment::{Setting, Swept, sweep};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

const LOGS: &str = "FLASHDRILL_TEST_OWNER_LOGS";

/// Not a test of its own: the process that the tests below end.
#[tokio::test]
#[ignore = "run by the tests below"]
async fn owner() {
    if let Some(logs) = std::env::var_os(LOGS) {
        flashdrill::cli::up::run(logs.into(), None, Setting::default())
            .await
            .unwrap();
    }
}

struct Owner {
    child: Child,
    /// Kept open: an owner whose output breaks ends otherwise.
    _output: Lines<BufReader<ChildStdout>>,
    pids: Vec<u32>,
    scratch: PathBuf,
}

fn start_owner(logs: &Path) -> Owner {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "owner_killed::owner", "--ignored", "--nocapture"])
        .env(LOGS, logs)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let (mut pids, mut scratch) = (Vec::new(), None);
    for line in lines.by_ref().map(Result::unwrap) {
        if let Some((_, pid)) = line.split_once(" pid ") {
            pids.push(pid.parse().unwrap());
        }
        if let Some(path) = line.trim().strip_prefix("scratch") {
            scratch = Some(PathBuf::from(path.trim()));
        }
        if line.starts_with("Ctrl-C") {
            break;
        }
    }
    Owner {
        child,
        _output: lines,
        pids,
        scratch: scratch.expect("the owner prints its scratch folder"),
    }
}

fn swept() -> Swept {
    tokio::runtime::Runtime::new().unwrap().block_on(sweep())
}

/// Gone, or a zombie that nobody has reaped.
fn is_dead(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')')
        .is_none_or(|(_, rest)| rest.trim_start().starts_with('Z'))
}

#[test]
fn ctrl_c_leaves_nothing_at_once() {
    let logs = std::env::temp_dir().join(format!("flashdrill-test-ctrl-c-{}", std::process::id()));
    let mut owner = start_owner(&logs);
    kill(
        Pid::from_raw(owner.child.id().cast_signed()),
        Signal::SIGINT,
    )
    .unwrap();
    assert!(owner.child.wait().unwrap().success());
    assert!(owner.pids.iter().all(|pid| is_dead(*pid)));
    assert!(!owner.scratch.exists());
    std::fs::remove_dir_all(logs).unwrap();
}

#[test]
fn kill_9_of_the_owner_leaves_nothing() {
    let logs = std::env::temp_dir().join(format!("flashdrill-test-owner-{}", std::process::id()));
    let mut owner = start_owner(&logs);
    assert_eq!(owner.pids.len(), 6, "the owner prints its Redis nodes");
    assert!(owner.pids.iter().all(|pid| !is_dead(*pid)) && owner.scratch.is_dir());

    // A live owner's run is not touched.
    swept();
    assert!(owner.pids.iter().all(|pid| !is_dead(*pid)) && owner.scratch.is_dir());

    owner.child.kill().unwrap();
    owner.child.wait().unwrap();
    let swept = swept();
    println!("{swept:?}");
    let name = owner
        .scratch
        .file_name()
        .unwrap()
        .to_string_lossy()
        .into_owned();
    assert!(swept.removed.contains(&name), "{swept:?}");
    assert!(!owner.scratch.exists());
    let deadline = Instant::now() + Duration::from_secs(10);
    while !owner.pids.iter().all(|pid| is_dead(*pid)) {
        assert!(Instant::now() < deadline, "a server outlived its owner");
        std::thread::sleep(Duration::from_millis(20));
    }
    std::fs::remove_dir_all(logs).unwrap();
}
