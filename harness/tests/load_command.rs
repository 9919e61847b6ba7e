//! `flashdrill load` as its users see it: exit codes, files, and every mistake at once.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up fails")]

use std::path::Path;
use std::process::{Command, Output};

#[path = "http/mod.rs"]
mod http;

use axum::Json;
use axum::routing::post;
use http::HttpServer;
use serde_json::{Value, json};

/// Says whether the body had a user and a request id of its own.
fn serve() -> HttpServer {
    HttpServer::run(axum::Router::new().route("/orders", post(order)))
}

async fn order(Json(body): Json<Value>) -> (axum::http::StatusCode, Json<Value>) {
    let filled = |name: &str| {
        body[name]
            .as_str()
            .is_some_and(|text| !text.is_empty() && !text.contains('{'))
    };
    let status = if filled("user") && filled("request_id") {
        201
    } else {
        422
    };
    (
        axum::http::StatusCode::from_u16(status).unwrap(),
        Json(json!({"order_id": "o"})),
    )
}

fn load(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_flashdrill"));
    command.arg("load").args(args).output().unwrap()
}

fn text(output: &Output) -> String {
    let out = String::from_utf8_lossy(&output.stdout);
    let err = String::from_utf8_lossy(&output.stderr);
    format!("exit {:?}\n{out}\n{err}", output.status.code())
}

/// Half a second of 200 requests a second with a body of fields.
fn measured(server: &HttpServer, seed: &str, more: &[&str]) -> Output {
    let (url, body) = (
        format!("http://{}/orders", server.address),
        r#"{"user":"{user}","request_id":"{request_id}"}"#,
    );
    let mut args = vec![
        &*url,
        "--method",
        "POST",
        "--header",
        "content-type: application/json",
        "--body",
        body,
        "--rate",
        "200",
        "--duration",
        "500ms",
        "--seed",
        seed,
    ];
    args.extend(more);
    load(&args)
}

fn json_of(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn a_load_is_measured_saved_and_merged() {
    let server = serve();
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let (one, two, all, hdr) = (
        file("1.json"),
        file("2.json"),
        file("all.json"),
        file("all.hlog"),
    );
    for (seed, path) in [("1", &one), ("2", &two)] {
        let output = measured(
            &server,
            seed,
            &["--json", path, "--slo", "response_max<=60s"],
        );
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        assert!(
            text(&output).contains("response_max<=60s  ok"),
            "{}",
            text(&output)
        );
    }
    let first = json_of(Path::new(&one));
    assert_eq!(first["sent"], 100);
    assert_eq!(
        first["statuses"],
        json!({"201": 100}),
        "every body had its fields filled"
    );
    let output = load(&["merge", &one, &two, "--json", &all, "--hdr", &hdr]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(text(&output).contains("2 generators"), "{}", text(&output));
    let sum = json_of(Path::new(&all));
    assert_eq!(
        (&sum["sent"], &sum["outcomes"]["accepted"]),
        (&json!(200), &json!(200))
    );
    let larger = |of: &str| {
        let max = |path: &str| json_of(Path::new(path))[of]["max"].as_u64().unwrap();
        max(&one).max(max(&two))
    };
    assert_eq!(sum["response_us"]["max"], larger("response_us"));
    let log = std::fs::read_to_string(&hdr).unwrap();
    let lines = log.lines().filter(|line| !line.starts_with('#'));
    assert!(lines.count() >= 1, "a histogram a second: {log}");
}

#[test]
fn a_gate_that_does_not_hold_fails_the_load() {
    let server = serve();
    let output = measured(
        &server,
        "1",
        &["--slo", "response_p50<1us", "--slo", "sent_share>=50%"],
    );
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    assert!(
        text(&output).contains("response_p50<1us  FAIL"),
        "{}",
        text(&output)
    );
    assert!(
        text(&output).contains("sent_share>=50%  ok"),
        "{}",
        text(&output)
    );
}

#[test]
fn json_on_stdout_is_nothing_but_json() {
    let server = serve();
    let output = measured(&server, "1", &["--json", "-"]);
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(result["offered"], 100);
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("response"),
        "{}",
        text(&output)
    );
}

#[test]
fn every_mistake_is_said_at_once() {
    let output = load(&[
        "ftp://127.0.0.1/",
        "--set",
        "sku",
        "--header",
        "x",
        "--depth",
        "0",
        "--rate",
        "0",
    ]);
    assert_eq!(output.status.code(), Some(64));
    for named in [
        "URL: ",
        "--set: `sku`",
        "--header: `x`",
        "--depth: 0",
        "--rate: 0",
    ] {
        assert!(
            text(&output).contains(named),
            "{named} is not in {}",
            text(&output)
        );
    }
    let output = load(&["http://127.0.0.1/", "--slo", "p99<=5ms"]);
    assert_eq!(output.status.code(), Some(64));
    assert!(
        text(&output).contains("no figure `p99`"),
        "{}",
        text(&output)
    );
}

#[test]
fn a_server_that_is_not_there_or_not_ours_is_named() {
    let free = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let output = load(&[&format!("http://{free}/")]);
    assert_eq!(output.status.code(), Some(69));
    assert!(
        text(&output).contains(&free.to_string()),
        "{}",
        text(&output)
    );
    let output = load(&["http://192.0.2.1/"]);
    assert_eq!(output.status.code(), Some(64));
    assert!(
        text(&output).contains("--allow-host 192.0.2.1"),
        "{}",
        text(&output)
    );
}

#[test]
fn what_cannot_be_merged_is_named_file_by_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("other.json");
    std::fs::write(&file, "{}").unwrap();
    let missing = folder.path().join("missing.json");
    let output = load(&["merge", file.to_str().unwrap(), missing.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(64));
    for named in ["other.json is no result", "cannot read", "missing.json"] {
        assert!(
            text(&output).contains(named),
            "{named} is not in {}",
            text(&output)
        );
    }
}
