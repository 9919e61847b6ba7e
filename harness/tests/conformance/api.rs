//! The REST API: one list of calls, the same answers of both proxies.

use std::time::{Duration, Instant};

use reqwest::Client;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

use super::subject::{Subject, free_port};

/// Method, path, status, body. `{a}`, `{b}` and `{c}` are free ports.
const CALLS: [(&str, &str, u16, &str); 49] = [
    ("GET", "/proxies", 200, ""),
    (
        "POST",
        "/proxies",
        201,
        r#"{"name": "one", "listen": "127.0.0.1:{a}", "upstream": "127.0.0.1:1"}"#,
    ),
    (
        "POST",
        "/proxies",
        409,
        r#"{"name": "one", "listen": "127.0.0.1:{b}", "upstream": "127.0.0.1:1"}"#,
    ),
    (
        "POST",
        "/proxies",
        201,
        r#"{"name": "off", "listen": "127.0.0.1:{b}", "upstream": "localhost:1", "enabled": false}"#,
    ),
    (
        "POST",
        "/proxies",
        500,
        r#"{"name": "taken", "listen": "127.0.0.1:{a}", "upstream": "127.0.0.1:1"}"#,
    ),
    ("GET", "/proxies/taken", 404, ""),
    (
        "POST",
        "/proxies",
        400,
        r#"{"listen": "127.0.0.1:{c}", "upstream": "127.0.0.1:1"}"#,
    ),
    (
        "POST",
        "/proxies",
        400,
        r#"{"name": "two", "listen": "127.0.0.1:{c}"}"#,
    ),
    ("POST", "/proxies", 400, "{"),
    ("POST", "/proxies", 400, ""),
    ("POST", "/proxies", 400, r#"{"name": 5}"#),
    ("GET", "/proxies", 200, ""),
    ("GET", "/proxies/one", 200, ""),
    ("GET", "/proxies/none", 404, ""),
    ("DELETE", "/proxies/none", 404, ""),
    ("POST", "/proxies/none", 404, r#"{"enabled": false}"#),
    (
        "POST",
        "/proxies/one/toxics",
        200,
        r#"{"type": "latency", "attributes": {"latency": 5}}"#,
    ),
    (
        "POST",
        "/proxies/one/toxics",
        409,
        r#"{"type": "latency", "attributes": {"latency": 6}}"#,
    ),
    (
        "POST",
        "/proxies/one/toxics",
        200,
        r#"{"name": "b", "type": "bandwidth", "stream": "upstream", "toxicity": 0.5, "attributes": {"rate": 7}, "more": 1}"#,
    ),
    (
        "POST",
        "/proxies/one/toxics",
        200,
        r#"{"name": "s", "type": "slicer", "stream": "upstream", "attributes": null}"#,
    ),
    (
        "POST",
        "/proxies/one/toxics",
        200,
        r#"{"type": "slow_close"}"#,
    ),
    (
        "POST",
        "/proxies/one/toxics",
        200,
        r#"{"type": "timeout", "toxicity": 0}"#,
    ),
    (
        "POST",
        "/proxies/one/toxics",
        200,
        r#"{"type": "reset_peer", "toxicity": 0, "attributes": {"timeout": 3}}"#,
    ),
    (
        "POST",
        "/proxies/one/toxics",
        200,
        r#"{"type": "limit_data", "attributes": {"bytes": 9}}"#,
    ),
    ("POST", "/proxies/one/toxics", 400, r#"{"type": "gremlin"}"#),
    ("POST", "/proxies/one/toxics", 400, r#"{"attributes": {}}"#),
    (
        "POST",
        "/proxies/one/toxics",
        400,
        r#"{"type": "latency", "stream": "sideways"}"#,
    ),
    (
        "POST",
        "/proxies/one/toxics",
        400,
        r#"{"name": "x", "type": "latency", "attributes": {"latency": "long"}}"#,
    ),
    (
        "POST",
        "/proxies/none/toxics",
        404,
        r#"{"type": "latency"}"#,
    ),
    ("GET", "/proxies/one/toxics", 200, ""),
    ("GET", "/proxies/none/toxics", 404, ""),
    ("GET", "/proxies/one/toxics/b", 200, ""),
    ("GET", "/proxies/one/toxics/none", 404, ""),
    (
        "POST",
        "/proxies/one/toxics/latency_downstream",
        200,
        r#"{"attributes": {"jitter": 2}}"#,
    ),
    (
        "PATCH",
        "/proxies/one/toxics/b",
        200,
        r#"{"name": "c", "stream": "downstream", "toxicity": 1, "attributes": {"rate": 8}}"#,
    ),
    ("PATCH", "/proxies/one/toxics/none", 404, "{}"),
    (
        "PATCH",
        "/proxies/one/toxics/b",
        400,
        r#"{"attributes": {"rate": "slow"}}"#,
    ),
    ("DELETE", "/proxies/one/toxics/s", 204, ""),
    ("DELETE", "/proxies/one/toxics/s", 404, ""),
    ("POST", "/proxies/one", 200, r#"{"enabled": false}"#),
    (
        "PATCH",
        "/proxies/one",
        200,
        r#"{"upstream": "127.0.0.1:2", "enabled": true}"#,
    ),
    (
        "PATCH",
        "/proxies/off",
        200,
        r#"{"listen": "127.0.0.1:{c}"}"#,
    ),
    (
        "POST",
        "/populate",
        201,
        r#"[{"name": "one", "listen": "127.0.0.1:{a}", "upstream": "127.0.0.1:2", "enabled": false}, {"name": "off", "listen": "127.0.0.1:{b}", "upstream": "127.0.0.1:1"}]"#,
    ),
    (
        "POST",
        "/populate",
        400,
        r#"[{"name": "p", "listen": "127.0.0.1:{c}", "upstream": "127.0.0.1:1"}, {"name": "q"}]"#,
    ),
    ("POST", "/populate", 201, "[]"),
    ("POST", "/reset", 204, ""),
    ("GET", "/proxies", 200, ""),
    ("DELETE", "/proxies/one", 204, ""),
    ("DELETE", "/proxies/off", 204, ""),
];

/// Every call with its answer, in a form that both proxies can share.
async fn transcript(subject: &Subject, ports: [u16; 3]) -> Vec<String> {
    let http = Client::new();
    let mut lines = Vec::new();
    for (method, path, status, body) in CALLS {
        let [a, b, c] = ports.map(|port| port.to_string());
        let body = body
            .replace("{a}", &a)
            .replace("{b}", &b)
            .replace("{c}", &c);
        let url = format!("http://{}{path}", subject.address());
        let call = format!("{method} {path} {body}");
        let request = http.request(method.parse().unwrap(), url).body(body);
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status().as_u16(), status, "{call}");
        // Toxiproxy says of its errors that they are plain text.
        let is_json = status >= 400
            || answer
                .headers()
                .get("content-type")
                .is_some_and(|kind| kind == "application/json");
        let bytes = answer.bytes().await.unwrap();
        let body: Value = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        let is_body = if bytes.is_empty() {
            "empty"
        } else if is_json {
            "JSON"
        } else {
            "other"
        };
        lines.push(format!("{call}: {is_body} {}", shared(body)));
    }
    lines
}

/// Numbers as one kind, without our `detail` and Toxiproxy's `Logger` (always `{}`), and without the part of an error's text that a JSON
/// library or the system words.
fn shared(value: Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(values) => values.into_iter().map(shared).collect(),
        Value::Object(fields) => {
            let fields = fields
                .into_iter()
                .filter(|(name, _)| name != "detail" && name != "Logger");
            let field = |(name, value): (String, Value)| match (name.as_str(), value) {
                ("error", Value::String(text)) => (name, json!(plain(&text))),
                (_, value) => (name, shared(value)),
            };
            fields.map(field).collect()
        }
        other => other,
    }
}

fn plain(text: &str) -> &str {
    if text.to_lowercase().contains("address already in use") {
        return "address already in use";
    }
    match text.split_once(": ") {
        Some((first @ "bad request body", _)) => first,
        _ => text,
    }
}

#[tokio::test]
async fn both_answer_every_call_alike() {
    let ports = [free_port(), free_port(), free_port()];
    let ours = transcript(&Subject::built_in(), ports).await;
    let Some(subject) = Subject::toxiproxy().await else {
        return;
    };
    let theirs = transcript(&subject, ports).await;
    let differing: Vec<_> = ours.iter().zip(&theirs).filter(|(o, t)| o != t).collect();
    assert!(
        differing.is_empty(),
        "the built-in proxy's answers, and Toxiproxy's: {differing:#?}"
    );
}

#[tokio::test]
async fn no_browser_is_served() {
    let mut subjects = vec![Subject::built_in()];
    subjects.extend(Subject::toxiproxy().await);
    for subject in subjects {
        let url = format!("http://{}/version", subject.address());
        let browser = Client::new().get(url).header("user-agent", "Mozilla/5.0");
        let answer = browser.send().await.unwrap();
        assert_eq!(answer.status().as_u16(), 403);
        assert_eq!(answer.text().await.unwrap(), "User agent not allowed\n");
    }
}

/// The names and labels of a link that has carried five bytes each way, once its connection has ended.
#[tokio::test]
async fn metrics_have_the_same_names_and_labels() {
    let ports = [free_port(), free_port(), free_port()];
    let ours = metrics(&Subject::built_in(), ports).await;
    assert_eq!(ours.len(), 4, "{ours:?}");
    if let Some(subject) = Subject::toxiproxy().await {
        assert_eq!(ours, metrics(&subject, ports).await);
    }
}

async fn metrics(subject: &Subject, [listen, upstream, _]: [u16; 3]) -> Vec<String> {
    let server = TcpListener::bind(("127.0.0.1", upstream)).await.unwrap();
    let link = json!({"name": "m", "listen": format!("127.0.0.1:{listen}"), "upstream": format!("127.0.0.1:{upstream}")});
    let url = format!("http://{}/proxies", subject.address());
    Client::new().post(url).json(&link).send().await.unwrap();
    let mut client = TcpStream::connect(("127.0.0.1", listen)).await.unwrap();
    let (mut served, _) = server.accept().await.unwrap();
    client.write_all(b"hello").await.unwrap();
    served.read_exact(&mut [0; 5]).await.unwrap();
    served.write_all(b"hello").await.unwrap();
    client.read_exact(&mut [0; 5]).await.unwrap();
    drop((client, served));
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let text = subject.client().metrics().await.unwrap();
        let mut lines: Vec<_> = text
            .lines()
            .filter(|l| l.ends_with("} 5"))
            .map(str::to_owned)
            .collect();
        lines.sort();
        if lines.len() >= 4 || Instant::now() > deadline {
            return lines;
        }
        sleep(Duration::from_millis(20)).await;
    }
}
