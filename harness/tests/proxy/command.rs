//! `flashdrill proxy`, as a person starts and ends it.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use flashdrill::proxy::ProxyClient;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::net::TcpStream;

use super::echo::Echo;
use super::fixture::echoed;

fn proxy(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_flashdrill"));
    command.args(["proxy", "--listen"]).args(arguments);
    command
}

#[tokio::test]
async fn serves_the_links_of_a_file_until_told_to_stop() {
    let echo = Echo::start().await;
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("proxies.json");
    let links = format!(
        r#"[{{"name": "echo", "listen": "127.0.0.1:0", "upstream": "{}"}}]"#,
        echo.address
    );
    std::fs::write(&config, links).unwrap();
    let mut child = proxy(&["127.0.0.1:0", "--config", config.to_str().unwrap()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    stdout.read_line(&mut first).unwrap();
    let (_, address) = first.trim().rsplit_once('/').unwrap();
    let client = ProxyClient::new(address.parse().unwrap());
    let listen = client.proxy("echo").await.unwrap().listen;
    let mut stream = TcpStream::connect(listen).await.unwrap();
    assert!(echoed(&mut stream, b"hello").await);

    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap());
    kill(pid, Signal::SIGINT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_wrong_start_says_what_to_do() {
    for (arguments, code, says) in [
        (&["0.0.0.0:0"][..], 64, "--allow HOST"),
        (
            &["127.0.0.1:0", "--config", "/nowhere.json"],
            64,
            "/nowhere.json",
        ),
        (&["192.0.2.1:0", "--allow", "192.0.2.1"], 69, "cannot start"),
    ] {
        let output = proxy(arguments).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {error}");
        assert!(error.contains(says), "{arguments:?}: {error}");
    }
}
