//! Real servers for the integration tests: on free loopback ports, in a scratch folder, stopped on drop.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Long enough for a busy machine; a server that is dead is noticed at once.
const READY_WITHIN: Duration = Duration::from_secs(60);

/// A folder that is removed on drop.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("flashdrill-test-{}-{count}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A server process.
pub struct Server {
    child: Child,
    pub address: SocketAddr,
    // Declared last: removed when the process is gone.
    _scratch: Scratch,
}

impl Server {
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub fn wait_until(&mut self, what: &str, is_ready: impl Fn() -> bool) {
        let begin = Instant::now();
        while !is_ready() {
            let ended = self.child.try_wait().unwrap();
            assert!(ended.is_none(), "{what} ended while starting: {ended:?}");
            assert!(begin.elapsed() < READY_WITHIN, "{what} not ready in time");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Outside the range from which the kernel takes the ports of outgoing connections: those come and go.
pub fn free_port() -> u16 {
    flashdrill::environment::free_port().unwrap()
}

pub fn start(command: &mut Command, port: u16, scratch: Scratch) -> Server {
    let log = fs::File::create(scratch.path().join("server.log")).unwrap();
    let child = command
        .stdin(Stdio::null())
        .stdout(log.try_clone().unwrap())
        .stderr(log)
        .spawn()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    Server {
        child,
        address: SocketAddr::from(([127, 0, 0, 1], port)),
        _scratch: scratch,
    }
}

/// A Redis node in cluster mode that owns no slots yet.
pub fn redis_node() -> Server {
    let scratch = Scratch::new();
    let (port, bus) = (free_port(), free_port());
    let mut command = Command::new("redis-server");
    command
        .args([
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--cluster-enabled",
            "yes",
        ])
        .args([
            "--cluster-require-full-coverage",
            "no",
            "--cluster-node-timeout",
            "1000",
        ])
        .args([
            "--port",
            &port.to_string(),
            "--cluster-port",
            &bus.to_string(),
        ])
        .arg("--dir")
        .arg(scratch.path());
    let mut server = start(&mut command, port, scratch);
    let address = server.address;
    server.wait_until("redis-server", || redis(address, "PING").contains("PONG"));
    server
}

/// Two primaries, each with half of the slots.
pub fn redis_cluster() -> [Server; 2] {
    let nodes = [redis_node(), redis_node()];
    let ranges = ["0 8191", "8192 16383"];
    for (node, range) in nodes.iter().zip(ranges) {
        redis(node.address, &format!("CLUSTER ADDSLOTSRANGE {range}"));
    }
    let bus = redis(nodes[1].address, "CLUSTER NODES");
    let bus = bus.split(['@', ' ', ',']).nth(2).unwrap().to_owned();
    let port = nodes[1].address.port();
    redis(
        nodes[0].address,
        &format!("CLUSTER MEET 127.0.0.1 {port} {bus}"),
    );
    let mut nodes = nodes;
    for node in &mut nodes {
        let address = node.address;
        node.wait_until("redis cluster", || {
            let info = redis(address, "CLUSTER INFO");
            info.contains("cluster_state:ok") && info.contains("cluster_slots_assigned:16384")
        });
    }
    nodes
}

/// One inline command on its own connection; the raw answer, empty when there is none.
pub fn redis(address: SocketAddr, command: &str) -> String {
    let ask = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        write!(stream, "{command}\r\nQUIT\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    };
    ask().unwrap_or_default()
}

/// MariaDB with an empty database `sale` and a root account without password.
pub fn mariadb() -> Server {
    let scratch = Scratch::new();
    let data = scratch.path().join("data");
    // Its own: a server that starts removes the temporary tables it finds, those of one that starts beside it included.
    let temporary = scratch.path().join("tmp");
    fs::create_dir(&temporary).unwrap();
    let prepared = Command::new("mariadb-install-db")
        .env("TMPDIR", &temporary)
        .args(["--no-defaults", "--auth-root-authentication-method=normal"])
        .arg(format!("--datadir={}", data.display()))
        .arg("--skip-test-db")
        .output()
        .unwrap();
    assert!(
        prepared.status.success(),
        "{}",
        String::from_utf8_lossy(&prepared.stderr)
    );
    let port = free_port();
    let init = scratch.path().join("init.sql");
    fs::write(&init, "CREATE DATABASE sale;\n").unwrap();
    let mut command = Command::new(program("mariadbd"));
    command
        .args(["--no-defaults", "--bind-address=127.0.0.1", "--user=root"])
        .args(["--innodb-buffer-pool-size=32M", "--skip-name-resolve"])
        .arg(format!("--port={port}"))
        .arg(format!("--datadir={}", data.display()))
        .arg(format!("--tmpdir={}", temporary.display()))
        .arg(format!("--socket={}", scratch.path().join("s").display()))
        .arg(format!("--init-file={}", init.display()));
    let mut server = start(&mut command, port, scratch);
    let address = server.address;
    server.wait_until("mariadbd", || TcpStream::connect(address).is_ok());
    server
}

/// Servers live in sbin, which PATH may lack.
fn program(name: &str) -> PathBuf {
    let sbin = Path::new("/usr/sbin").join(name);
    if sbin.exists() {
        sbin
    } else {
        PathBuf::from(name)
    }
}

/// Answers every GET with `page`, until the test process ends.
pub fn http_page(page: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            answer(stream, page);
        }
    });
    address
}

fn answer(mut stream: TcpStream, page: &str) {
    let mut request = [0; 4096];
    let _ = stream.read(&mut request);
    let length = page.len();
    let _ = write!(
        stream,
        "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{page}"
    );
}
