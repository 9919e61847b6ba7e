//! A server process that cannot outlive the test process, however that ends.
//!
//! A shell starts the server and reads its own standard input. The test process holds the other end: when it
//! closes, by exit, panic or kill -9 alike, the shell stops the server and removes the folder. The line "kill"
//! kills the server at once and keeps the folder for the next start.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

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

/// A port nobody listens on at the moment.
pub fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
}
