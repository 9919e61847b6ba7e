//! What the built-in proxy does differently on purpose: one table, asked of both.

use std::pin::Pin;
use std::time::Duration;

use flashdrill::proxy::toxic::{Effect, Stream, Toxic};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use super::echo::Echo;
use super::subject::Subject;

type Probe = for<'s> fn(&'s Subject) -> Pin<Box<dyn Future<Output = String> + 's>>;

struct Difference {
    what: &'static str,
    built_in: &'static str,
    toxiproxy: &'static str,
    probe: Probe,
}

const DIFFERENCES: [Difference; 15] = [
    Difference {
        what: "a client that has said all still gets its answer",
        built_in: "answered",
        toxiproxy: "lost",
        probe: |subject| Box::pin(half_close(subject)),
    },
    Difference {
        what: "the reset of a server reaches its client as a reset",
        built_in: "reset",
        toxiproxy: "closed",
        probe: |subject| Box::pin(passed_reset(subject)),
    },
    Difference {
        what: "reset_peer resets connections that are older than the toxic",
        built_in: "reset",
        toxiproxy: "closed",
        probe: |subject| Box::pin(reset_of_old(subject)),
    },
    Difference {
        what: "a timeout counts from its start, not from the last bytes swallowed",
        built_in: "closed",
        toxiproxy: "open",
        probe: |subject| Box::pin(timeout_under_traffic(subject)),
    },
    Difference {
        what: "metrics count bytes as they pass, not when the connection ends",
        built_in: "live",
        toxiproxy: "at the end",
        probe: |subject| Box::pin(live_metrics(subject)),
    },
    Difference {
        what: "attributes are not negative",
        built_in: "400",
        toxiproxy: "200",
        probe: |subject| {
            Box::pin(toxic(
                subject,
                json!({"type": "latency", "attributes": {"latency": -1}}),
            ))
        },
    },
    Difference {
        what: "a toxicity is from 0 to 1",
        built_in: "400",
        toxiproxy: "200",
        probe: |subject| Box::pin(toxic(subject, json!({"type": "latency", "toxicity": 1.5}))),
    },
    Difference {
        what: "stall is a toxic",
        built_in: "200",
        toxiproxy: "400",
        probe: |subject| Box::pin(toxic(subject, json!({"type": "stall"}))),
    },
    Difference {
        what: "unreachable is a toxic",
        built_in: "200",
        toxiproxy: "400",
        probe: |subject| Box::pin(toxic(subject, json!({"type": "unreachable"}))),
    },
    Difference {
        what: "a stream is shown in lower case, however it was written",
        built_in: "upstream",
        toxiproxy: "UPSTREAM",
        probe: |subject| Box::pin(shown_stream(subject)),
    },
    Difference {
        what: "a listener is shown as an address also before it listens",
        built_in: "127.0.0.1:1",
        toxiproxy: "localhost:1",
        probe: |subject| Box::pin(shown_listener(subject)),
    },
    Difference {
        what: "links lead to loopback, or to hosts allowed by name",
        built_in: "400",
        toxiproxy: "201",
        probe: |subject| Box::pin(link_to(subject, "192.0.2.1:1")),
    },
    Difference {
        what: "an upstream that is no address is refused at once, not at each connection",
        built_in: "400",
        toxiproxy: "201",
        probe: |subject| Box::pin(link_to(subject, "nowhere")),
    },
    Difference {
        what: "errors say in a second field what to do",
        built_in: "proxy `none` not found; GET /proxies lists them",
        toxiproxy: "null",
        probe: |subject| Box::pin(detail(subject)),
    },
    Difference {
        what: "traffic, connections and leases are served",
        built_in: "200 200 200",
        toxiproxy: "404 404 404",
        probe: |subject| Box::pin(own_paths(subject)),
    },
];

#[tokio::test]
async fn the_built_in_proxy_differs_as_said() {
    let subject = Subject::built_in();
    for difference in DIFFERENCES {
        let seen = (difference.probe)(&subject).await;
        assert_eq!(seen, difference.built_in, "{}", difference.what);
    }
}

#[tokio::test]
async fn toxiproxy_differs_as_said() {
    let Some(subject) = Subject::toxiproxy().await else {
        return;
    };
    for difference in DIFFERENCES {
        let seen = (difference.probe)(&subject).await;
        assert_eq!(seen, difference.toxiproxy, "{}", difference.what);
    }
}

async fn end(stream: &mut TcpStream) -> String {
    let read = timeout(Duration::from_secs(10), stream.read(&mut [0; 1])).await;
    match read.expect("the connection ends") {
        Ok(0) => "closed",
        Ok(_) => "bytes",
        Err(_) => "reset",
    }
    .to_owned()
}

async fn half_close(subject: &Subject) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let link = subject
        .link("half-close", listener.local_addr().unwrap())
        .await;
    let mut client = TcpStream::connect(link).await.unwrap();
    client.write_all(b"all").await.unwrap();
    client.shutdown().await.unwrap();
    let (mut server, _) = listener.accept().await.unwrap();
    let mut request = Vec::new();
    server.read_to_end(&mut request).await.unwrap();
    // Toxiproxy has closed both ways by now, or is about to.
    let _ = timeout(Duration::from_millis(300), client.read(&mut [0; 0])).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    let _ = server.write_all(b"answer").await;
    drop(server);
    let mut answer = Vec::new();
    let _ = client.read_to_end(&mut answer).await;
    if answer == b"answer" {
        "answered"
    } else {
        "lost"
    }
    .to_owned()
}

async fn passed_reset(subject: &Subject) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let link = subject
        .link("passed-reset", listener.local_addr().unwrap())
        .await;
    let mut client = TcpStream::connect(link).await.unwrap();
    let (mut server, _) = listener.accept().await.unwrap();
    // Talking first: a reset during the dial is an upstream that refuses.
    client.write_all(b"hello").await.unwrap();
    server.read_exact(&mut [0; 5]).await.unwrap();
    server.set_zero_linger().unwrap();
    drop(server);
    end(&mut client).await
}

async fn echo_link(subject: &Subject, name: &str) -> (Echo, TcpStream) {
    let echo = Echo::start().await;
    let link = subject.link(name, echo.address).await;
    let mut stream = TcpStream::connect(link).await.unwrap();
    stream.write_all(b"hello").await.unwrap();
    stream.read_exact(&mut [0; 5]).await.unwrap();
    (echo, stream)
}

async fn reset_of_old(subject: &Subject) -> String {
    let (_echo, mut old) = echo_link(subject, "old").await;
    let toxic = Toxic::new(Stream::Downstream, Effect::ResetPeer { timeout: 0 });
    subject.client().add_toxic("old", &toxic).await.unwrap();
    old.write_all(b"x").await.unwrap();
    end(&mut old).await
}

async fn timeout_under_traffic(subject: &Subject) -> String {
    let (_echo, mut stream) = echo_link(subject, "timeout").await;
    let toxic = Toxic::new(Stream::Upstream, Effect::Timeout { timeout: 1_000 });
    subject.client().add_toxic("timeout", &toxic).await.unwrap();
    for _ in 0..25 {
        if let Ok(read) = timeout(Duration::from_millis(100), stream.read(&mut [0; 1])).await {
            assert!(matches!(read, Ok(0) | Err(_)), "nothing comes back");
            return "closed".to_owned();
        }
        let _ = stream.write_all(b"x").await;
    }
    "open".to_owned()
}

async fn live_metrics(subject: &Subject) -> String {
    let (_echo, _open) = echo_link(subject, "metrics").await;
    let text = subject.client().metrics().await.unwrap();
    let sent = |line: &str| {
        line.starts_with("toxiproxy_proxy_sent_bytes_total{")
            && line.contains(r#"proxy="metrics""#)
            && line.ends_with(" 5")
    };
    if text.lines().any(sent) {
        "live"
    } else {
        "at the end"
    }
    .to_owned()
}

async fn post(subject: &Subject, path: &str, body: Value) -> String {
    let url = format!("http://{}{path}", subject.address());
    let answer = reqwest::Client::new()
        .post(url)
        .json(&body)
        .send()
        .await
        .unwrap();
    answer.status().as_str().to_owned()
}

async fn toxic(subject: &Subject, toxic: Value) -> String {
    subject.link("toxic", ([127, 0, 0, 1], 1).into()).await;
    let status = post(subject, "/proxies/toxic/toxics", toxic).await;
    subject.client().remove("toxic").await.unwrap();
    status
}

async fn link_to(subject: &Subject, upstream: &str) -> String {
    let body = json!({"name": "away", "listen": "127.0.0.1:0", "upstream": upstream});
    let status = post(subject, "/proxies", body).await;
    // It is there in one of the two.
    let _ = subject.client().remove("away").await;
    status
}

async fn shown_stream(subject: &Subject) -> String {
    subject.link("stream", ([127, 0, 0, 1], 1).into()).await;
    let toxic = json!({"type": "latency", "stream": "UPSTREAM"});
    shown(subject, "/proxies/stream/toxics", toxic, "stream").await
}

async fn shown_listener(subject: &Subject) -> String {
    let link =
        json!({"name": "l", "listen": "localhost:1", "upstream": "127.0.0.1:1", "enabled": false});
    shown(subject, "/proxies", link, "listen").await
}

async fn shown(subject: &Subject, path: &str, body: Value, field: &str) -> String {
    let url = format!("http://{}{path}", subject.address());
    let answer = reqwest::Client::new()
        .post(url)
        .json(&body)
        .send()
        .await
        .unwrap();
    let body: Value = answer.json().await.unwrap();
    body[field].as_str().unwrap().to_owned()
}

async fn detail(subject: &Subject) -> String {
    let url = format!("http://{}/proxies/none", subject.address());
    let body: Value = reqwest::get(url).await.unwrap().json().await.unwrap();
    let detail = &body["detail"];
    detail
        .as_str()
        .map_or_else(|| detail.to_string(), str::to_owned)
}

async fn own_paths(subject: &Subject) -> String {
    subject.link("own", ([127, 0, 0, 1], 1).into()).await;
    let mut statuses = Vec::new();
    for path in [
        "/proxies/own/traffic",
        "/proxies/own/connections",
        "/leases",
    ] {
        let answer = reqwest::get(format!("http://{}{path}", subject.address()))
            .await
            .unwrap();
        statuses.push(answer.status().as_str().to_owned());
    }
    statuses.join(" ")
}
