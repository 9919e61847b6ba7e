//! A stack of ours stands in for staging, and the command attaches to it: what it may do there, and what it leaves.
//!
//! Needs the servers' programs, and the service's binary beside `flashdrill`: `make test` builds it first.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

use flashdrill::cli::endpoints;
use flashdrill::environment::{Setting, Stack, StackOptions};
use redis::cmd;
use serde_json::Value;
use sqlx::{Connection, MySqlConnection};

/// Little load for a short time, with a connection for every request: a busy machine is no excuse. The fault is
/// appended.
const DRILL: &str = r#"
title = "A drill for an attached stack"
controls = ["MQ-5"]

[sale]
skus = 2
units_per_sku = 50
limit_per_user = 1

[load]
connections = 256

[[load.phases]]
name = "sale"
shape = "constant"
rate_per_s = 50
duration_ms = 4000

[population]
users = 100

[expect]
schedule_lag_us_p99_max = 10000000
sell_out = false
checks = ["S1", "S2", "S4", "S5", "S6", "L1", "L2", "L3"]

[[faults]]
at_ms = 500
for_ms = 2500
"#;

/// Staging, and a folder with drills and endpoints files for it.
struct Ground {
    staging: Stack,
    folder: tempfile::TempDir,
}

impl Ground {
    async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = StackOptions {
            name: "staging".to_owned(),
            keep_logs_in: folder.path().join("logs"),
            progress: Arc::new(|line: &str| println!("staging: {line}")),
            setting: Setting::default(),
        };
        let staging = Stack::start(&options).await.unwrap();
        let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../drills/targets/flashsale.toml");
        fs::create_dir(folder.path().join("targets")).unwrap();
        fs::copy(target, folder.path().join("targets/flashsale.toml")).unwrap();
        let ground = Self { staging, folder };
        for (drill, fault) in [
            (
                "slow",
                "kind = \"link_latency\"\nlinks = [\"service-*-mysql\"]\nlatency_ms = 50",
            ),
            ("kill", "kind = \"redis_primary_kill\"\nsku = 1"),
            (
                "bus",
                "kind = \"link_latency\"\nlinks = [\"redis-bus-*\"]\nlatency_ms = 50",
            ),
        ] {
            ground.write(&format!("{drill}.toml"), &format!("{DRILL}{fault}\n"));
        }
        ground
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// Runs a drill on staging, by the endpoints file that `change` makes of the right one.
    async fn drill(&self, drill: &str, change: impl Fn(&str) -> String) -> Output {
        let text = change(&endpoints::describe(&self.staging));
        let file = self.write("staging.toml", &text);
        let mut command = Command::new(env!("CARGO_BIN_EXE_flashdrill"));
        command
            .args(["drill", "run", "--env", "attach", "--endpoints"])
            .arg(file)
            .arg("--results")
            .arg(self.folder.path().join("results"))
            .arg(self.folder.path().join(drill).with_extension("toml"));
        let run = tokio::task::spawn_blocking(move || command.output());
        run.await.unwrap().unwrap()
    }

    /// The drill does not begin: the exit code, and words for why.
    async fn assert_refused(
        &self,
        drill: &str,
        change: impl Fn(&str) -> String,
        code: i32,
        words: &[&str],
    ) {
        let output = self.drill(drill, change).await;
        let text = text(&output);
        assert_eq!(output.status.code(), Some(code), "{text}");
        for part in words {
            assert!(text.contains(part), "{part} not in: {text}");
        }
        assert!(self.has_data().await, "{text}");
    }

    async fn put_data(&self) {
        let mut mysql = self.mysql().await;
        let table = sqlx::raw_sql("CREATE TABLE precious (id INT PRIMARY KEY)");
        table.execute(&mut mysql).await.unwrap();
        let primary = self.staging.redis.primary_of("precious").await.unwrap();
        let set = cmd("SET").arg("precious").arg("1").to_owned();
        primary.query::<()>(&set).await.unwrap();
    }

    async fn has_data(&self) -> bool {
        let primary = self.staging.redis.primary_of("precious").await.unwrap();
        let exists = cmd("EXISTS").arg("precious").to_owned();
        let key: bool = primary.query(&exists).await.unwrap();
        let mut mysql = self.mysql().await;
        let table = sqlx::raw_sql("SELECT id FROM precious");
        key && table.execute(&mut mysql).await.is_ok()
    }

    async fn mysql(&self) -> MySqlConnection {
        MySqlConnection::connect(&self.staging.mysql.url())
            .await
            .unwrap()
    }

    fn pids(&self) -> Vec<Option<u32>> {
        let servers = self.staging.servers();
        servers.iter().map(|server| server.pid()).collect()
    }
}

fn text(output: &Output) -> String {
    let out = String::from_utf8_lossy(&output.stdout);
    let err = String::from_utf8_lossy(&output.stderr);
    format!("exit {:?}\n{out}\n{err}", output.status.code())
}

fn as_it_is(file: &str) -> String {
    file.to_owned()
}

/// None of these touches anything.
async fn what_is_not_allowed_is_refused(ground: &Ground) {
    let no_reset = |file: &str| file.replace("may_reset = true", "may_reset = false");
    let word = "set `may_reset = true` there";
    ground.assert_refused("slow", no_reset, 69, &[word]).await;

    let other_faults = |file: &str| {
        let rest = file.split_once("\n\n").unwrap().1;
        format!("may_reset = true\nfaults = [\"link_stall\"]\n\n{rest}")
    };
    let words = [
        "faults[0]: link_latency is not among the faults",
        "(link_stall)",
    ];
    ground
        .assert_refused("slow", other_faults, 69, &words)
        .await;

    let words = ["faults[0]: redis_primary_kill needs servers that flashdrill has started"];
    ground.assert_refused("kill", as_it_is, 69, &words).await;
    let words = ["faults[0]: link_latency needs links that are called `redis-bus-*`"];
    ground.assert_refused("bus", as_it_is, 69, &words).await;
}

/// Each is named, whatever else is wrong.
async fn what_is_wrong_is_told_at_once(ground: &Ground) {
    let wrong = |file: &str| {
        file.replace("may_reset", "may_rest").replace(
            "mysql://flashdrill:flashdrill@127.0.0.1",
            "mysql://flashdrill:flashdrill@10.1.2.3",
        )
    };
    let words = [
        "may_rest: unknown key",
        "mysql.url: 10.1.2.3 is beyond loopback",
        "mysql.replica_url",
    ];
    ground.assert_refused("slow", wrong, 64, &words).await;

    let name_server = ground.staging.rocketmq.name_server_address.to_string();
    let redis = ground.staging.redis.node(2).address().to_string();
    let silent = |file: &str| {
        file.replace(&name_server, "127.0.0.1:1")
            .replace(&redis, "127.0.0.1:2")
            .replace("service:service@", "service:wrong@")
    };
    let words = [
        "3 endpoint(s) cannot be used",
        "redis-2: connecting to 127.0.0.1:2 failed",
        "mysql: connecting to mysql://service:***@",
        "rocketmq-namesrv: attaching failed: ClusterInfo at 127.0.0.1:1",
    ];
    ground.assert_refused("slow", silent, 69, &words).await;

    let five = |file: &str| file.replace(&format!("\"{redis}\", "), "");
    let words = ["sees a cluster of 6 nodes in state ok, not of 5"];
    ground.assert_refused("slow", five, 69, &words).await;
}

async fn a_drill_passes_and_leaves_nothing(ground: &Ground) {
    let before = ground.pids();
    let output = ground.drill("slow", as_it_is).await;
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let verdict = ground.folder.path().join("results/latest/verdict.json");
    let verdict: Value = serde_json::from_slice(&fs::read(verdict).unwrap()).unwrap();
    let fault = &verdict["faults"][0];
    assert_eq!(fault["kind"], "link_latency");
    assert!(fault["receipt"].is_string(), "{fault}");
    let environment = verdict["environment"]["environment"].as_str().unwrap();
    assert!(environment.starts_with("attached, "), "{environment}");

    assert_eq!(ground.pids(), before, "all servers run on");
    assert!(!ground.has_data().await, "drills begin with empty stores");
    let mut keys = 0;
    for node in &ground.staging.redis.nodes {
        keys += node.query::<u64>(&cmd("DBSIZE")).await.unwrap();
    }
    assert_eq!(keys, 0, "and leave them so");
    let mut mysql = ground.mysql().await;
    let tables = sqlx::query("SHOW TABLES").fetch_all(&mut mysql);
    assert_eq!(tables.await.unwrap().len(), 0);
    let left = ground.staging.leftovers().await;
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn attaches_to_a_stack_that_runs_already() {
    let _only = crate::ONLY_STACK.lock().await;
    let ground = Ground::start().await;
    ground.put_data().await;
    what_is_not_allowed_is_refused(&ground).await;
    what_is_wrong_is_told_at_once(&ground).await;
    a_drill_passes_and_leaves_nothing(&ground).await;
    ground.staging.stop().await;
}
