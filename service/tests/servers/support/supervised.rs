//! A server process that cannot outlive the test process, however that ends.
//!
//! A shell starts the server and reads its own standard input. The test process holds the other end: when it
//! closes, by exit, panic or kill -9 alike, the shell stops the server and removes the folder. The line "kill"
//! kills the server at once and keeps the folder for the next start.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};

const SUPERVISE: &str = r#"
folder=$1; shift
"$@" >>"$folder/server.log" 2>&1 &
server=$!
read -r order
if [ "$order" = kill ]; then
    kill -KILL "$server"; wait "$server" 2>/dev/null
    exit 0
fi
kill -TERM "$server" 2>/dev/null
(sleep 5; kill -KILL "$server" 2>/dev/null) &
wait "$server" 2>/dev/null
kill "$!" 2>/dev/null
rm -rf "$folder"
"#;

/// A running server; dropping it ends the server and removes its folder.
pub struct Supervised {
    shell: Child,
}

impl Supervised {
    /// Runs `program` with its scratch `folder`; its output goes to `server.log` there.
    pub fn start(folder: &Path, program: &str, arguments: &[String]) -> Self {
        std::fs::create_dir_all(folder).unwrap();
        let shell = Command::new("sh")
            .args(["-c", SUPERVISE, "supervise"])
            .arg(folder)
            .arg(program)
            .args(arguments)
            .env("ROCKETMQ_HOME", folder)
            // Ctrl-C and whoever ends the test's process group must not take the cleaning shell along.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Self { shell }
    }

    /// Kill -9; the folder stays.
    pub fn kill(mut self) {
        let mut stdin = self.shell.stdin.take().unwrap();
        stdin.write_all(b"kill\n").unwrap();
        self.shell.wait().unwrap();
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        let _ = self.shell.wait();
    }
}

/// A port nobody uses at the moment, nor the two below and the one above (a RocketMQ broker listens there too).
/// Outside the range from which the kernel takes the ports of outgoing connections: those come and go.
pub fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let start = u16::try_from(std::process::id() % 1_000).unwrap() * 8;
    loop {
        let step = NEXT.fetch_add(4, Ordering::Relaxed);
        let port = 20_002 + (start + step) % 10_000;
        let free = |port| std::net::TcpListener::bind(("0.0.0.0", port)).is_ok();
        if (port - 2..=port + 1).all(free) {
            return port;
        }
    }
}
