//! A broker of `RocketMQ`, apart from the other servers since few tests need it.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::servers::{Scratch, Server, free_port, start};

/// A broker of `RocketMQ` that knows no name server, and checks back soon. Its jars are in `FLASHDRILL_ROCKETMQ`, else
/// in the user's cache.
pub fn broker() -> Server {
    let scratch = Scratch::new();
    let port = broker_port();
    let store = scratch.path().join("store");
    let config = scratch.path().join("broker.conf");
    let text = format!(
        "brokerIP1=127.0.0.1\nbindAddress=127.0.0.1\nlistenPort={port}\nhaListenPort={}\nstorePathRootDir={store}\n\
         storePathCommitLog={store}/commitlog\ntransactionTimeOut=1000\ntransactionCheckInterval=1000\n\
         mappedFileSizeCommitLog=16777216\ndiskMaxUsedSpaceRatio=95\n",
        free_port(),
        store = store.display(),
    );
    fs::write(&config, text).unwrap();
    let mut command = Command::new("java");
    command
        .args(["--add-opens=java.base/sun.nio.ch=ALL-UNNAMED"])
        .args(["--add-opens=java.base/java.nio=ALL-UNNAMED"])
        .args(["--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED"])
        .args([
            "-Xms128m",
            "-Xmx256m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
        ])
        .args(["-XX:MaxDirectMemorySize=256m", "-Dtls.server.mode=disabled"])
        .arg(format!("-Duser.home={}", scratch.path().display()))
        .args(["-cp", &format!("{}/*", rocketmq_jars().display())])
        .arg("org.apache.rocketmq.broker.BrokerStartup")
        .args(["-c", &config.display().to_string()])
        .env("ROCKETMQ_HOME", scratch.path());
    let mut server = start(&mut command, port, scratch);
    let address = server.address;
    server.wait_until("broker", || broker_answers(address));
    server
}

/// The broker listens on its port and on the one two below.
fn broker_port() -> u16 {
    loop {
        let port = free_port();
        if TcpListener::bind(("127.0.0.1", port - 2)).is_ok() {
            return port;
        }
    }
}

/// It listens before it serves.
fn broker_answers(address: SocketAddr) -> bool {
    let header = br#"{"code":28,"language":"OTHER","version":0,"opaque":1,"flag":0}"#;
    let length = header.len() as u32;
    let ask = || -> std::io::Result<()> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        let start = [(length + 4).to_be_bytes(), length.to_be_bytes()].concat();
        stream.write_all(&[&start, &header[..]].concat())?;
        stream.read_exact(&mut [0; 8])
    };
    ask().is_ok()
}

fn rocketmq_jars() -> PathBuf {
    let cache = || match std::env::var_os("XDG_CACHE_HOME") {
        Some(cache) => PathBuf::from(cache),
        None => PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache"),
    };
    let named = std::env::var_os("FLASHDRILL_ROCKETMQ");
    named.map_or_else(|| cache().join("flashdrill/rocketmq-5.3.3"), PathBuf::from)
}
