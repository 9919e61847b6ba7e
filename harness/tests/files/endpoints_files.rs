//! Endpoints files: what is accepted, and that every mistake is reported at once.

use std::path::{Path, PathBuf};

use flashdrill::drill::catalogue;
use flashdrill::drill::file::FileError;
use flashdrill::environment::Endpoints;

fn drills() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../drills")
}

fn example() -> String {
    std::fs::read_to_string(drills().join("endpoints/example.toml")).unwrap()
}

fn read(text: &str) -> Result<Endpoints, FileError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("staging.toml");
    std::fs::write(&path, text).unwrap();
    Endpoints::read(&path)
}

fn problems(text: &str) -> Vec<String> {
    match read(text) {
        Err(FileError::Wrong { problems, .. }) => {
            problems.0.iter().map(ToString::to_string).collect()
        }
        other => panic!("expected problems, got {other:?}"),
    }
}

fn assert_told(text: &str, expected: &[&str]) {
    let problems = problems(text);
    for expected in expected {
        assert!(
            problems.iter().any(|problem| problem.starts_with(expected)),
            "{expected} not in {problems:#?}"
        );
    }
    assert_eq!(problems.len(), expected.len(), "{problems:#?}");
}

#[test]
fn the_example_is_read_whole_and_is_no_drill() {
    let endpoints = read(&example()).unwrap();
    assert!(endpoints.may_reset && endpoints.hosts.is_empty());
    assert_eq!(endpoints.redis.len(), 6);
    assert!(
        endpoints
            .faults
            .iter()
            .any(|kind| kind.as_str() == "link_latency")
    );
    assert_eq!(endpoints.mysql.url.user(), "flashdrill");
    assert_eq!(endpoints.mysql.service_url.user(), "service");
    assert_eq!(endpoints.mysql.node_url, endpoints.mysql.service_url);
    assert_eq!(endpoints.mysql.replica_url, None);
    assert_eq!((endpoints.name_server.port, endpoints.broker), (9876, None));
    let drills = catalogue::all(&drills()).unwrap();
    assert!(
        drills
            .iter()
            .all(|drill| !drill.ends_with("endpoints/example.toml"))
    );
}

#[test]
fn what_is_not_said_is_not_allowed() {
    let silent: String = example()
        .lines()
        .filter(|line| !line.starts_with("may_reset") && !line.starts_with("service_url"))
        .map(|line| format!("{line}\n"))
        .collect();
    let endpoints = read(&silent).unwrap();
    assert!(!endpoints.may_reset);
    assert_eq!(endpoints.mysql.service_url, endpoints.mysql.url);
    assert_eq!(endpoints.mysql.node_url, endpoints.mysql.url);
    let bare = silent.split("[redis]").nth(1).unwrap();
    let endpoints = read(&format!("[redis]{bare}")).unwrap();
    assert!(endpoints.faults.is_empty() && endpoints.hosts.is_empty());
}

#[test]
fn every_mistake_is_reported_at_once() {
    let text = example()
        .replace("may_reset = true", "may_reset = \"yes\"\nmay_rest = true")
        .replace("\"link_stall\"", "\"link_stal\"")
        .replace("\"127.0.0.1:7001\"", "\"127.0.0.1\"")
        .replace("127.0.0.1:7003", "10.1.2.3:7003")
        .replace("127.0.0.1:3306/flashsale", "127.0.0.1:3306/mysql")
        .replace("name_server =", "nameserver =");
    assert_told(
        &text,
        &[
            "may_reset: expected",
            "may_rest: unknown key; did you mean `may_reset`?",
            "faults[5]: unknown kind `link_stal`; did you mean `link_stall`?",
            "redis.nodes[1]: `127.0.0.1` is no address; expected host:port",
            "redis.nodes[3]: 10.1.2.3 is beyond loopback; allow it by name if it is yours: hosts = [\"10.1.2.3\"]",
            "mysql.url: `mysql` is the server's own database",
            "mysql.service_url: `mysql` is the server's own database",
            "rocketmq.nameserver: unknown key",
            "rocketmq.name_server: missing",
        ],
    );
    assert_told(
        "",
        &["redis: missing", "mysql: missing", "rocketmq: missing"],
    );
    assert_told(
        &example().replace("nodes = [", "nodes = [] #"),
        &["not TOML"],
    );
}

#[test]
fn a_host_beyond_loopback_is_allowed_by_its_exact_name() {
    let staging = example().replace("127.0.0.1:3306", "db.staging");
    assert_told(
        &staging,
        &[
            "mysql.url: db.staging is beyond",
            "mysql.service_url: db.staging is beyond",
        ],
    );
    let near = staging.replace("hosts = []", "hosts = [\"staging\", \"b.staging\"]");
    assert_eq!(problems(&near).len(), 2);
    read(&staging.replace("hosts = []", "hosts = [\"db.staging\"]")).unwrap();
}

#[test]
fn accounts_of_one_stack_lead_to_one_database() {
    let text = example()
        .replace(
            "service:secret@127.0.0.1:3306",
            "service:secret@127.0.0.1:3307",
        )
        .replace("# node_url", "node_url")
        .replace("node:secret@127.0.0.1:3306", "node:secret@127.0.0.1:3308")
        .replace("# replica_url", "replica_url")
        .replace("3307/flashsale\"\n\n", "3307/other\"\n\n");
    assert_told(
        &text,
        &[
            "mysql.service_url: leads to another database than mysql.url",
            "mysql.node_url: leads to another database than mysql.url",
            "mysql.replica_url: leads to a database of another name than mysql.url",
        ],
    );
}
