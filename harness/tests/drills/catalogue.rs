//! The command itself, on real servers: drills in short form, the proof, and what users do to it.
//!
//! Needs the service's binaries beside `flashdrill`: `make test` builds them first.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::command::*;

/// One drill of each group and one mutant of each; `make nightly` proves all of them in full length.
const SAMPLE: [(&str, &str); 6] = [
    ("baseline/oversell", "one-unit-too-many"),
    ("mysql/stock-condition", "no-stock-condition"),
    ("redis/primary-kill", "reopen-without-rebuild"),
    ("rocketmq/broker-kill", "check-back-always-rolls-back"),
    ("outbox/broker-away", "relay-skips-failed"),
    ("stream/consumer-crash", "acks-before-work"),
];

/// Drills pass on the service as it is, and each catches its mutant by the check named for it.
#[test]
fn a_sample_of_drills_passes_and_catches_its_mutants() {
    let _stack = one_at_a_time();
    let results = tempfile::tempdir().unwrap();
    let mut args = vec!["prove", "--short"];
    for (drill, mutant) in SAMPLE {
        args.extend([drill, "--mutant", mutant]);
    }
    let output = run(results.path(), &args);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let table = String::from_utf8_lossy(&output.stdout);
    let count = |word: &str| table.matches(&format!("| {word} |")).count();
    assert_eq!(
        (count("pass"), count("killed")),
        (SAMPLE.len(), SAMPLE.len()),
        "{table}"
    );
    let made = runs(results.path());
    for run in &made {
        verdict_is_complete(run);
    }
    // Nothing is left to do for a proof that goes on, and the table is the same.
    args.push("--resume");
    let resumed = run(results.path(), &args);
    assert_eq!(resumed.status.code(), Some(0), "{}", text(&resumed));
    assert_eq!(String::from_utf8_lossy(&resumed.stdout), table);
    assert_eq!(runs(results.path()), made);
    let page = std::fs::read_to_string(results.path().join("prove.html")).unwrap();
    assert!(page.contains("one-unit-too-many"), "{page}");
}

/// `verdict.json` has what scripts rely on.
fn verdict_is_complete(run: &Path) {
    let verdict = verdict_of(run);
    for key in ["verdict", "drill", "seed", "recovery_ms", "environment"] {
        assert!(verdict.get(key).is_some(), "{key} is missing: {verdict:#}");
    }
    for key in [
        "offered_per_s",
        "sent_per_s",
        "sent_share",
        "schedule_lag_us_p99",
        "response_us_p50",
        "response_us_p99",
    ] {
        assert!(
            verdict["load"][key].is_number(),
            "load.{key} is no number: {verdict:#}"
        );
    }
    for check in verdict["checks"].as_array().unwrap() {
        for key in ["id", "verdict", "detail"] {
            assert!(check[key].is_string(), "checks[].{key}: {check}");
        }
    }
    for fault in verdict["faults"].as_array().unwrap() {
        assert!(
            fault["kind"].is_string() && fault["receipt"].is_string(),
            "{fault}"
        );
        assert!(fault["injected_at_ms"].is_u64(), "{fault}");
    }
    let html = std::fs::read_to_string(run.join("report.html")).unwrap();
    assert!(html.contains("<svg"), "the report has plots");
    assert!(
        !html.contains("src=\"http") && !html.contains("<link"),
        "it is self-contained"
    );
}

/// A saved run gives the same verdict without servers; a damaged one is never a pass.
#[test]
fn a_saved_run_is_judged_again_and_damage_is_never_a_pass() {
    let _stack = one_at_a_time();
    let results = tempfile::tempdir().unwrap();
    let output = run(
        results.path(),
        &["drill", "run", "baseline/oversell", "--short"],
    );
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let saved = runs(results.path()).remove(0);
    let again = |expected: i32| {
        let output = run(results.path(), &["check", saved.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(expected), "{}", text(&output));
    };
    again(0);
    let history = saved.join("history.bin");
    let whole = std::fs::read(&history).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    std::fs::write(&history, flipped).unwrap();
    again(2);
    std::fs::write(&history, &whole[..whole.len() / 3]).unwrap();
    again(2);
    std::fs::write(&history, &whole).unwrap();
    again(0);
    for evidence in [
        "final_state.json",
        "load.json",
        "faults.json",
        "guarantees.json",
        "alerts.json",
    ] {
        let kept = std::fs::read(saved.join(evidence)).unwrap();
        std::fs::remove_file(saved.join(evidence)).unwrap();
        again(2);
        std::fs::write(saved.join(evidence), kept).unwrap();
    }
    std::fs::remove_file(saved.join("plan.json")).unwrap();
    again(64);
}

/// Starts a drill and waits until its load runs.
fn drill_under_load(results: &Path) -> Child {
    let mut child = flashdrill(results, &["drill", "run", "redis/primary-kill", "--short"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(120);
    while Instant::now() < deadline {
        let selling = runs(results)
            .iter()
            .any(|run| run.join("samples.jsonl").exists());
        if selling {
            // Into the fault, so that a dead server and toxics are there to be left behind.
            std::thread::sleep(Duration::from_secs(3));
            return child;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    child.kill().unwrap();
    panic!(
        "the drill never came to its load: {:?}",
        child.wait().unwrap()
    );
}

/// Servers of runs whose owner is gone: their command line names its scratch folder, `<name>-<pid>-<n>`.
fn servers_left() -> Vec<String> {
    let scratch = SCRATCH.join("flashdrill/");
    let mut left = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        let folder = line.split_once(scratch.to_str().unwrap());
        let owner = folder.and_then(|(_, rest)| rest.split('/').next()?.rsplit('-').nth(1));
        if owner.is_some_and(|pid| !Path::new("/proc").join(pid).exists()) {
            left.push(line);
        }
    }
    left
}

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill")
        .args([name, &child.id().to_string()])
        .status()
        .unwrap();
    assert!(status.success());
}

#[test]
fn kill_nine_in_mid_drill_leaves_nothing_for_the_next_run_to_trip_over() {
    let _stack = one_at_a_time();
    let results = tempfile::tempdir().unwrap();
    let mut child = drill_under_load(results.path());
    signal(&child, "-KILL");
    child.wait().unwrap();
    let output = run(
        results.path(),
        &["drill", "run", "baseline/oversell", "--short"],
    );
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert_eq!(servers_left(), Vec::<String>::new());
}

#[test]
fn ctrl_c_or_sigterm_in_mid_drill_saves_the_evidence_is_inconclusive_and_leaves_nothing() {
    let _stack = one_at_a_time();
    for name in ["-INT", "-TERM"] {
        let results = tempfile::tempdir().unwrap();
        let child = drill_under_load(results.path());
        signal(&child, name);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{name}: {}", text(&output));
        assert_eq!(
            verdict_of(&runs(results.path())[0])["verdict"],
            "inconclusive"
        );
        assert_eq!(servers_left(), Vec::<String>::new());
    }
}

#[test]
fn wrong_words_and_wrong_files_exit_64_with_every_mistake() {
    let folder = tempfile::tempdir().unwrap();
    let wrong = std::fs::read_to_string(repository().join("drills/baseline/oversell.toml"))
        .unwrap()
        .replace("skus = 5", "skus = 0")
        .replace("connections = 1024", "connections = \"many\"")
        .replace("users = 20000", "user = 20000")
        .replace("cancel_share = 0.05", "cancel_share = 5")
        .replace("shape = \"ramp\"", "shape = \"hill\"");
    let path = folder.path().join("wrong.toml");
    std::fs::write(&path, wrong).unwrap();
    let output = run(folder.path(), &["drill", "run", path.to_str().unwrap()]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(64), "{said}");
    for place in [
        "sale.skus",
        "load.connections",
        "load.phases[0].shape",
        "population.user",
        "population.cancel_share",
    ] {
        assert!(said.contains(place), "{place} is not named: {said}");
    }
    for args in [
        &["drill", "run"][..],
        &["drill", "run", "no/such"],
        &["nonsense"],
        &["check", "no/run"],
    ] {
        let output = run(folder.path(), args);
        assert_eq!(
            output.status.code(),
            Some(64),
            "{args:?}: {}",
            text(&output)
        );
    }
}

#[test]
fn missing_servers_exit_69_and_all_of_them_are_named() {
    let results = tempfile::tempdir().unwrap();
    let output = flashdrill(results.path(), &["drill", "run", "baseline/oversell"])
        .env("PATH", results.path())
        .env("FLASHDRILL_ROCKETMQ", results.path().join("no-jars"))
        .output()
        .unwrap();
    let said = text(&output);
    assert_eq!(output.status.code(), Some(69), "{said}");
    for name in ["redis-server", "java", "no-jars", "make deps"] {
        assert!(said.contains(name), "{name} is not named: {said}");
    }
}

/// Adds a quiet drill whose target starts the service by a shell's `script`.
fn add_drill(drills: &Path, name: &str, script: &str) -> String {
    let command = "command = [\"{bin_dir}/flashsale\"]";
    let target = std::fs::read_to_string(drills.join("targets/flashsale.toml")).unwrap();
    assert!(target.contains(command));
    let shell = format!("command = [\"sh\", \"-c\", \"{script}\"]");
    let target = target.replace(command, &shell);
    std::fs::write(drills.join(format!("targets/{name}.toml")), target).unwrap();
    let file = drills.join(format!("{name}.toml"));
    std::fs::write(&file, format!("target = \"{name}\"\n{QUIET}")).unwrap();
    file.display().to_string()
}

#[test]
fn a_way_past_the_proxy_is_inconclusive_and_a_process_left_behind_fails() {
    let _stack = one_at_a_time();
    let drills = drills_with_target(|target| target);
    let port = "$(sed -n 's/^port = //p' {scratch}/mysql/my.cnf)";
    let direct = format!("mysql://flashdrill:flashdrill@127.0.0.1:{port}/flashdrill");
    let past = format!("FLASHSALE_MYSQL_URL={direct} exec {{bin_dir}}/flashsale");
    let past = add_drill(drills.path(), "past", &past);
    let leaves = "setsid sleep 600 & exec {bin_dir}/flashsale";
    let leaves = add_drill(drills.path(), "leaves", leaves);
    let args = ["drill", "run", &past, &leaves];
    let output = run(drills.path(), &args);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    // Both were named in the same second: `leaves` sorts first.
    let runs = runs(drills.path());
    let [leaves, past] = [&runs[0], &runs[1]].map(|run| verdict_of(run));
    assert_eq!(past["verdict"], "inconclusive", "{past:#}");
    let why = past["reasons"][0].as_str().unwrap();
    let way = "ervice-0 is connected to mysql at its real address 127.0.0.1:";
    assert!(why.starts_with("P1:") && why.contains(way), "{why}");
    assert_eq!(leaves["verdict"], "fail", "{leaves:#}");
    let why = leaves["reasons"][0].as_str().unwrap();
    assert!(why.starts_with("P2:") && why.contains("sleep 600"), "{why}");
    assert!(said.contains("left behind: process"), "{said}");

    let room = std::fs::read(runs[0].join("clean_room.json")).unwrap();
    let room: Value = serde_json::from_slice(&room).unwrap();
    for scan in ["after_run", "after_stop"] {
        assert_eq!(room[scan][0]["kind"], "process", "{room:#}");
    }
    let swept = text(&run(drills.path(), &["clean"]));
    assert!(swept.contains("killed a process of a dead run"), "{swept}");
}

#[test]
fn a_service_that_finds_its_port_taken_exits_69_with_its_own_words() {
    let _stack = one_at_a_time();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let drills = drills_with_target(|target| target.replace("{port}", &port.to_string()));
    let file = drills.path().join("oversell.toml");
    let output = run(
        drills.path(),
        &["drill", "run", file.to_str().unwrap(), "--short"],
    );
    let said = text(&output);
    assert_eq!(output.status.code(), Some(69), "{said}");
    assert!(
        said.contains("service-0: a port it wants is in use"),
        "{said}"
    );
    assert!(
        said.contains(&format!("cannot listen on 127.0.0.1:{port}")),
        "{said}"
    );
    assert_eq!(servers_left(), Vec::<String>::new());
}

#[test]
fn a_server_that_dies_during_start_exits_69_with_the_end_of_its_log() {
    let _stack = one_at_a_time();
    let folder = tempfile::tempdir().unwrap();
    let fake = folder.path().join("redis-server");
    std::fs::write(
        &fake,
        "#!/bin/sh\necho 'Fatal error, no luck today'\nexit 1\n",
    )
    .unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&fake, mode).unwrap();
    let path = format!(
        "{}:{}",
        folder.path().display(),
        std::env::var("PATH").unwrap()
    );
    let output = flashdrill(
        folder.path(),
        &["drill", "run", "baseline/oversell", "--short"],
    )
    .env("PATH", path)
    .output()
    .unwrap();
    let said = text(&output);
    assert_eq!(output.status.code(), Some(69), "{said}");
    assert!(
        said.contains("redis") && said.contains("no luck today"),
        "{said}"
    );
    assert_eq!(servers_left(), Vec::<String>::new());
}

/// A shop that the harness knows by its target file alone.
fn naive_shop(results: &Path, repaired: &str) -> (Option<i32>, Value) {
    let words = "drill run baseline/oversell --target naive-shop --rate-share 0.04";
    let args: Vec<&str> = words.split(' ').collect();
    let mut command = flashdrill(results, &args);
    let output = command.env("SHOP_REPAIRED", repaired).output().unwrap();
    let made = runs(results)
        .pop()
        .unwrap_or_else(|| panic!("{}", text(&output)));
    (output.status.code(), verdict_of(&made))
}

#[test]
fn a_naive_shop_is_caught_with_a_witness_and_the_repaired_one_passes() {
    let _stack = one_at_a_time();
    let results = tempfile::tempdir().unwrap();
    let (code, verdict) = naive_shop(results.path(), "");
    assert_eq!(code, Some(1), "{verdict:#}");
    for (id, what) in [
        ("S1", "live orders hold"),
        ("S2", "the first promise beyond the stock"),
        ("S4", "buys 1 of"),
    ] {
        let mut checks = verdict["checks"].as_array().unwrap().iter();
        let check = checks.find(|check| check["id"] == id).unwrap();
        assert_eq!(check["verdict"], "fail", "{check:#}");
        let witnesses = check["witnesses"].to_string();
        assert!(witnesses.contains(what), "{what} not in {witnesses}");
    }
    let (code, verdict) = naive_shop(results.path(), "1");
    assert_eq!(code, Some(0), "{verdict:#}");
}
