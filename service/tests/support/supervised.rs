//! A server process that cannot outlive the test process, however that ends.
//!
//! A shell starts the server and waits for its own standard input to close. The test process holds the other
//! end, so exit, panic and kill -9 alike stop the server, and the shell then removes the folder.

use std::path::Path;
use std::process::{Child, Command, Stdio};

const SUPERVISE: &str = r#"
folder=$1; shift
"$@" >"$folder/server.log" 2>&1 &
server=$!
read -r _
kill -TERM "$server" 2>/dev/null
for _ in 1 2 3 4 5 6 7 8 9 10; do kill -0 "$server" 2>/dev/null || break; sleep 0.3; done
kill -KILL "$server" 2>/dev/null
rm -rf "$folder"
"#;

/// Runs `program` with its scratch `folder`, which is removed when the test process has gone.
pub fn start(folder: &Path, program: &str, arguments: &[String]) -> Child {
    Command::new("sh")
        .args(["-c", SUPERVISE, "supervise"])
        .arg(folder)
        .arg(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// A port nobody listens on at the moment.
pub fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
}
