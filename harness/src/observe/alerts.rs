//! The sink of the service's alerts: a webhook of the harness's own, for one run.

use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::ObserveError;
use super::sampler::since;
use crate::target::AlertFields;

/// More than any run that is not broken; what comes after them is not kept.
const KEPT_MAX: usize = 10_000;

/// One alert as it arrived. One entry of `alerts.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alert {
    /// Since the first arrival of the load; negative before it.
    pub at_ms: i64,
    /// By the target's `alerts.name_field`; empty: the body has no such text.
    pub name: String,
    /// By its `alerts.about_field`.
    pub about: String,
    pub body: String,
}

/// Takes what is posted to it until it is dropped.
#[derive(Debug)]
pub struct AlertSink {
    /// Where alerts are to be sent.
    pub url: String,
    received: Received,
    serving: JoinHandle<()>,
}

type Received = Arc<Mutex<Vec<(Instant, Bytes)>>>;

impl AlertSink {
    /// Listens on a free port of 127.0.0.1, on the current tokio runtime.
    ///
    /// # Errors
    /// No port can be had.
    pub async fn start() -> Result<Self, ObserveError> {
        let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
        let listener = bound.map_err(ObserveError::AlertSink)?;
        let address = listener.local_addr().map_err(ObserveError::AlertSink)?;
        let received = Received::default();
        let router = Router::new()
            .fallback(receive)
            .with_state(Arc::clone(&received));
        let serving = tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, router).await {
                tracing::warn!(%error, "the sink of the alerts broke off");
            }
        });
        Ok(Self {
            url: format!("http://{address}/alerts"),
            received,
            serving,
        })
    }

    /// All that came so far, in order, by the clock whose zero is `start`.
    pub fn received(&self, fields: &AlertFields, start: Instant) -> Vec<Alert> {
        let received = self.received.lock().unwrap_or_else(PoisonError::into_inner);
        let read = |(at, body): &(Instant, Bytes)| read(since(start, *at), body, fields);
        received.iter().map(read).collect()
    }
}

impl Drop for AlertSink {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn receive(State(received): State<Received>, body: Bytes) -> StatusCode {
    let mut received = received.lock().unwrap_or_else(PoisonError::into_inner);
    if received.len() < KEPT_MAX {
        received.push((Instant::now(), body));
    }
    StatusCode::NO_CONTENT
}

fn read(at_ms: i64, body: &[u8], fields: &AlertFields) -> Alert {
    let object: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
    let text = |field: &str| object[field].as_str().unwrap_or_default().to_owned();
    Alert {
        at_ms,
        name: text(&fields.name_field),
        about: fields.about_field.as_deref().map(text).unwrap_or_default(),
        body: String::from_utf8_lossy(body).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn fields() -> AlertFields {
        AlertFields {
            name_field: "alert".to_owned(),
            about_field: Some("sku".to_owned()),
        }
    }

    #[tokio::test]
    async fn keeps_what_is_posted_with_its_time() {
        let start = Instant::now() + Duration::from_secs(60);
        let sink = AlertSink::start().await.unwrap();
        let client = reqwest::Client::new();
        for body in [r#"{"alert":"paused","sku":"a"}"#, "no JSON", "{}"] {
            let answer = client.post(&sink.url).body(body).send().await.unwrap();
            assert!(answer.status().is_success());
        }
        let received = sink.received(&fields(), start);
        let told: Vec<_> = received
            .iter()
            .map(|alert| [&alert.name, &alert.about, &alert.body].map(String::as_str))
            .collect();
        assert_eq!(
            told,
            [
                ["paused", "a", r#"{"alert":"paused","sku":"a"}"#],
                ["", "", "no JSON"],
                ["", "", "{}"]
            ]
        );
        assert!(
            received
                .iter()
                .all(|alert| (-60_000..0).contains(&alert.at_ms))
        );
        let gone = sink.url.clone();
        drop(sink);
        tokio::task::yield_now().await;
        assert!(client.post(gone).send().await.is_err());
    }

    #[test]
    fn a_target_need_not_say_what_an_alert_is_about() {
        let fields = AlertFields {
            about_field: None,
            ..fields()
        };
        let alert = read(7, br#"{"alert":"paused","sku":"a"}"#, &fields);
        assert_eq!((alert.name.as_str(), alert.about.as_str()), ("paused", ""));
    }
}
