//! The REST API, case by case. That it is Toxiproxy's is in `conformance`.

use flashdrill::proxy::{ProxyOptions, ProxyServer};
use serde_json::{Value, json};

use super::fixture::Fixture;

#[tokio::test]
async fn links_beyond_loopback_need_a_name() {
    let server = ProxyServer::start_with(ProxyOptions {
        listen: "127.0.0.1:0".parse().unwrap(),
        seed: 1,
        allow: vec!["db.staging".into()],
    })
    .unwrap();
    let http = reqwest::Client::new();
    for (listen, upstream, status) in [
        ("127.0.0.1:0", "db.production:3306", 400),
        ("127.0.0.1:0", "10.0.0.1:3306", 400),
        ("0.0.0.0:0", "127.0.0.1:3306", 400),
        ("127.0.0.1", "127.0.0.1:3306", 400),
        ("127.0.0.1:0", "db.staging:3306", 201),
    ] {
        let body = json!({"name": "link", "listen": listen, "upstream": upstream});
        let url = format!("http://{}/proxies", server.address());
        let answer = http.post(url).json(&body).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), status, "{body}");
    }
}

#[tokio::test]
async fn errors_say_what_toxiproxy_says_and_more() {
    let f = Fixture::start().await;
    let answer = reqwest::get(format!("{}/proxies/none", f.api))
        .await
        .unwrap();
    assert_eq!(answer.status().as_u16(), 404);
    let body: Value = answer.json().await.unwrap();
    assert_eq!(
        (&body["error"], &body["status"]),
        (&json!("proxy not found"), &json!(404))
    );
    assert!(
        body["detail"].as_str().unwrap().contains("`none`"),
        "{body}"
    );
    let error = f.client.proxy("none").await.unwrap_err().to_string();
    assert!(error.contains("`none`"), "{error}");
}

#[tokio::test]
async fn metrics_are_live() {
    let f = Fixture::start().await;
    let _stream = f.connected().await;
    let text = f.client.metrics().await.unwrap();
    for what in ["received", "sent"] {
        for direction in ["upstream", "downstream"] {
            let line = format!(
                r#"toxiproxy_proxy_{what}_bytes_total{{direction="{direction}",listener="{}",proxy="echo",upstream="{}"}} 6"#,
                f.listen, f.echo.address
            );
            assert!(text.lines().any(|l| l == line), "{line}\n{text}");
        }
    }
}
