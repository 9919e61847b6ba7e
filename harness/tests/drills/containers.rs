//! The command with its servers in containers: drills pass on them, nothing is left, and what is missing is named.
//!
//! Needs a Docker engine with images (`compose/install-docker.sh`, `make images`) and the service's binaries beside
//! `flashdrill`. Without an engine the tests say so, in the words that `.ci/run` counts.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::MutexGuard;
use std::time::{Duration, Instant};

use serde_json::Value;

const DRILLS: [&str; 3] = [
    "redis/primary-kill",
    "rocketmq/broker-kill",
    "mysql/stock-condition",
];

/// None, after it was said why, where there is no engine with images.
fn engine() -> Option<MutexGuard<'static, ()>> {
    let here = |name: &str| docker(&["image", "inspect", "-f", "{{.Id}}", name]).is_some();
    let images = ["redis", "mysql", "rocketmq", "toxiproxy"];
    let reason = if docker(&["version"]).is_none() {
        "no Docker engine answers; compose/install-docker.sh starts one"
    } else if !images
        .iter()
        .all(|name| here(&format!("flashdrill/{name}:local")))
    {
        "no local images; make images builds them"
    } else {
        return Some(crate::command::one_at_a_time());
    };
    // Past the capture of a test's output, which holds what `eprintln!` says.
    let mut unheld = std::io::stderr();
    writeln!(unheld, "\nskipped: 1 ({reason})").unwrap();
    None
}

/// What a Docker command says; None when it fails.
fn docker(args: &[&str]) -> Option<String> {
    let output = Command::new("docker").args(args).output().ok()?;
    let said = output.status.success();
    said.then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Names of the containers that the process has made, running or not.
fn containers_of(pid: u32) -> Vec<String> {
    let name = format!("name=-{pid}-");
    let format = "{{.Names}}";
    let filter = ["ps", "-a", "--filter", "label=org.flashdrill.run"];
    let names = docker(&[&filter[..], &["--filter", &name, "--format", format]].concat()).unwrap();
    names.lines().map(str::to_owned).collect()
}

fn flashdrill(args: &[&str]) -> Command {
    let mut command = crate::command::flashdrill_here(args);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The exit code, and everything that was said.
fn told(output: &Output) -> (Option<i32>, String) {
    let out = String::from_utf8_lossy(&output.stdout);
    let err = String::from_utf8_lossy(&output.stderr);
    (output.status.code(), format!("{out}\n{err}"))
}

fn verdict_of(results: &Path, drill: &str) -> Value {
    let runs = std::fs::read_dir(results).unwrap();
    let files = runs.map(|run| run.unwrap().path().join("verdict.json"));
    let verdicts = files.filter_map(|file: PathBuf| std::fs::read(file).ok());
    let mut verdicts = verdicts.map(|text| serde_json::from_slice::<Value>(&text).unwrap());
    verdicts.find(|verdict| verdict["drill"] == drill).unwrap()
}

#[test]
fn drills_pass_in_containers_behind_the_real_toxiproxy_and_leave_nothing() {
    let Some(_stack) = engine() else { return };
    let results = tempfile::tempdir().unwrap();
    let mut command = flashdrill(&["drill", "run", "--short", "--env", "container"]);
    command.args(DRILLS).arg("--results").arg(results.path());
    let child = command.spawn().unwrap();
    let pid = child.id();
    let (code, text) = told(&child.wait_with_output().unwrap());
    println!("{text}");
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(containers_of(pid), [""; 0], "containers are left");
    for drill in DRILLS {
        let verdict = verdict_of(results.path(), drill);
        let server = |name: &str| verdict["environment"][name].as_str().unwrap().to_owned();
        assert!(server("environment").starts_with("containers, Docker"));
        assert!(server("proxy").starts_with("Toxiproxy 2."), "{verdict:#}");
        assert!(server("mysql").starts_with("MySQL "), "{verdict:#}");
        for fault in verdict["faults"].as_array().unwrap() {
            assert!(fault["receipt"].is_string(), "{fault}");
        }
    }
}

/// Reads the log of its servers, which is there once they run.
fn wait_for_a_stack(child: &Child, logs: &Path) {
    let deadline = Instant::now() + Duration::from_secs(120);
    let says_ready = |name: &str| {
        let log = std::fs::read_to_string(logs.join(name)).unwrap_or_default();
        log.contains("Ready to accept connections")
    };
    while !(0..6).all(|node| says_ready(&format!("redis-{node}.log"))) {
        let made = containers_of(child.id());
        assert!(
            Instant::now() < deadline,
            "no stack after two minutes: {made:?}"
        );
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn after_a_kill_9_clean_removes_the_containers() {
    let Some(_stack) = engine() else { return };
    let logs = tempfile::tempdir().unwrap();
    let mut command = flashdrill(&["up", "--env", "container", "--proxy", "built-in"]);
    let mut child = command.arg("--logs").arg(logs.path()).spawn().unwrap();
    wait_for_a_stack(&child, logs.path());
    let clean = || told(&flashdrill(&["clean"]).output().unwrap()).1;
    let before = clean();
    assert!(!before.contains("killed redis"), "a live owner's: {before}");
    assert!(containers_of(child.id()).len() >= 6);

    child.kill().unwrap();
    child.wait().unwrap();
    let swept = clean();
    assert!(swept.contains("killed redis-0"), "{swept}");
    assert_eq!(containers_of(child.id()), [""; 0], "{swept}");
}

#[test]
fn all_images_that_cannot_be_had_are_named_at_once() {
    let Some(_stack) = engine() else { return };
    let mut command = flashdrill(&["up", "--env", "container"]);
    command.env("FLASHDRILL_IMAGE_REDIS", "localhost:1/no-redis:1");
    command.env("FLASHDRILL_IMAGE_MYSQL", "localhost:1/no-mysql");
    let (code, text) = told(&command.output().unwrap());
    assert_eq!(code, Some(69), "{text}");
    for part in [
        "localhost:1/no-redis:1 cannot be pulled",
        "localhost:1/no-mysql cannot be pulled",
        "make images",
        "FLASHDRILL_IMAGE_REDIS, FLASHDRILL_IMAGE_MYSQL",
    ] {
        assert!(text.contains(part), "{part} not in: {text}");
    }
}

#[test]
fn without_an_engine_it_says_how_to_get_one() {
    let folder = tempfile::tempdir().unwrap();
    let socket = format!("unix://{}/none.sock", folder.path().display());
    let mut command = flashdrill(&["up", "--env", "container"]);
    let (code, text) = told(&command.env("DOCKER_HOST", socket).output().unwrap());
    assert_eq!(code, Some(69), "{text}");
    for part in [
        "no Docker engine answers",
        "install-docker.sh",
        "--env native",
    ] {
        assert!(text.contains(part), "{part} not in: {text}");
    }
}
