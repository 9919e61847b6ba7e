//! A stack that is broken by hand, by the command: `up`, `ps`, `fault`, and what is left of it.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use flashdrill::environment::Setting;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// A stack that `flashdrill up` keeps.
struct Up {
    child: Child,
    logs: tempfile::TempDir,
}

impl Up {
    fn start() -> Self {
        let logs = tempfile::tempdir().unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_flashdrill"))
            .args(["up", "--logs"])
            .arg(logs.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let last = lines
            .map_while(Result::ok)
            .find(|line| line.contains("Ctrl-C stops everything"));
        assert!(last.is_some(), "the stack did not come up");
        Self { child, logs }
    }

    /// Its name in `ps`.
    fn name(&self) -> String {
        format!("up-{}-0", self.child.id())
    }

    fn flashdrill(&self, args: &[&str]) -> Output {
        let name = self.name();
        let mut command = Command::new(env!("CARGO_BIN_EXE_flashdrill"));
        command.args(args).current_dir(self.logs.path());
        if args[0] == "fault" && args[1] != "list" {
            // Other tests may keep a stack at the same time.
            command.args(["--run", &name]);
        }
        command.output().unwrap()
    }

    /// What `ps` says is broken in this stack.
    fn broken(&self) -> Vec<String> {
        let out = text(&self.flashdrill(&["ps"]).stdout);
        let ours = out.split_once(&self.name()).unwrap().1.lines().skip(1);
        ours.take_while(|line| line.starts_with(' '))
            .filter_map(|line| line.trim().strip_prefix("BROKEN "))
            .map(str::to_owned)
            .collect()
    }

    fn signal(&mut self, signal: Signal) {
        kill(Pid::from_raw(self.child.id().cast_signed()), signal).unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        while self.child.try_wait().unwrap().is_none() {
            assert!(Instant::now() < deadline, "it does not end");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Up {
    /// Also after a test that failed: its servers die with it.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_stack_is_broken_and_healed_by_hand() {
    let mut up = Up::start();
    assert_eq!(up.broken(), Vec::<String>::new());

    let wrong = up.flashdrill(&["fault", "inject", "broker_kill", "cut_ms=1", "for_ms=x"]);
    assert_eq!(wrong.status.code(), Some(64));
    for part in ["cut_ms: unknown key", "for_ms: expected"] {
        assert!(text(&wrong.stderr).contains(part), "{wrong:?}");
    }

    let injected = up.flashdrill(&["fault", "inject", "broker_kill"]);
    assert!(injected.status.success(), "{injected:?}");
    assert!(text(&injected.stdout).contains("exited by signal 9"));
    let broken = up.broken();
    assert!(
        broken.contains(&"rocketmq-broker is dead".to_owned()),
        "{broken:?}"
    );
    assert!(broken.iter().any(|line| line.starts_with("#1 broker_kill")));

    let healed = up.flashdrill(&["fault", "heal", "1"]);
    assert!(healed.status.success(), "{healed:?}");
    assert_eq!(up.broken(), Vec::<String>::new());
    let again = up.flashdrill(&["fault", "heal", "1"]);
    assert_eq!(again.status.code(), Some(64), "{again:?}");

    up.signal(Signal::SIGINT);
    assert!(!text(&up.flashdrill(&["ps"]).stdout).contains(&up.name()));
}

/// One of every sort: dead and frozen servers, links, settings of servers.
const TEN: [&[&str]; 10] = [
    &["server_pause", "server=mysql-replica"],
    &["server_pause", "server=redis-5"],
    &["server_kill", "server=redis-4"],
    &["broker_kill"],
    &["server_kill", "server=rocketmq-namesrv"],
    &["link_latency", "links=redis-replication-0", "latency_ms=50"],
    &["link_stall", "links=redis-replication-1"],
    &["link_down", "links=mysql-replication"],
    &["link_black_hole", "links=redis-bus-2"],
    &["mysql_read_only"],
];
/// Where this user may: mounts, one within the other.
const MOUNTS: &[&str] = &["server_disk_full", "server=rocketmq-broker"];

#[test]
fn a_keeper_that_is_killed_with_ten_faults_in_force_leaves_nothing() {
    let mut up = Up::start();
    let mounts = Setting::default().can_mount().then_some(MOUNTS);
    // The broker's first, while it lives.
    let faults: Vec<_> = mounts.into_iter().chain(TEN).collect();
    for fault in &faults {
        let injected = up.flashdrill(&[&["fault", "inject"], *fault].concat());
        assert!(injected.status.success(), "{fault:?}: {injected:?}");
    }
    let broken = up.broken();
    for number in 1..=faults.len() {
        let line = format!("#{number} ");
        assert!(
            broken.iter().any(|broken| broken.starts_with(&line)),
            "{line}: {broken:#?}"
        );
    }
    let ours = processes_with(&up.name());
    assert!(!ours.is_empty(), "MySQL names the folder");

    up.signal(Signal::SIGKILL);
    let clean = up.flashdrill(&["clean"]);
    assert!(clean.status.success(), "{clean:?}");
    let scratch = std::env::temp_dir().join("flashdrill").join(up.name());
    assert!(!scratch.exists(), "{}", scratch.display());
    assert_eq!(processes_with(&up.name()), Vec::<String>::new());
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
    assert!(!mounts.contains(&up.name()), "{mounts}");
    let again = up.flashdrill(&["clean"]);
    assert!(!text(&again.stdout).contains(&up.name()), "{again:?}");
}

/// Command lines that name the run's scratch folder.
fn processes_with(run: &str) -> Vec<String> {
    let folder = format!("/{run}/");
    std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .map(|line| text(&line).replace('\0', " "))
        .filter(|line| line.contains(&folder))
        .collect()
}
