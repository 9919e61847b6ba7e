//! Alerts: what somebody on call must know, sent once to a webhook and written to the log.
//!
//! A trouble is told when it begins and not again before it is over; of a trouble that every node sees, each tells for itself,
//! so whoever raises one sees to it that only one node does, or names the node in `about`.

use std::collections::HashSet;
use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;

use crate::parts::parts;
use crate::sale::clock;
use crate::sale::sku::Sku;

/// Tries to reach the webhook, each so long, with this pause between them.
const TRIES: u32 = 3;
const TRY_TIMEOUT: Duration = Duration::from_secs(2);
const TRY_PAUSE: Duration = Duration::from_secs(1);

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Trouble {
    /// Redis cannot be trusted, so that a SKU's sale stands still. About the SKU; told by the node that closed its gate.
    StockPaused,
    /// No order can be sent. About the node.
    QueueDown,
    /// So many messages could not be delivered or applied that somebody should look. Told by the keeper that leads; about it.
    DeadLetters,
    /// Redis granted more than there was. About the SKU; never over in the life of a process.
    NegativeStock,
    /// Orders were granted that MySQL refused, or whose messages never came. About the SKU; never over either.
    PromiseBroken,
}

/// What the webhook gets, as JSON.
#[derive(Debug, Serialize)]
struct Alert {
    alert: Trouble,
    about: String,
    text: String,
    node: String,
    at_ms: u64,
}

enum News {
    Begun(Alert),
    Over(Trouble, String),
}

/// Handle; raising an alert waits for nothing.
#[derive(Debug, Clone)]
pub struct Alerts {
    node: Arc<str>,
    news: UnboundedSender<News>,
}

impl Alerts {
    /// Starts to deliver, as one of `tasks`. Without a webhook alerts are in the log only.
    pub fn start(node: &str, webhook: Option<String>, tasks: &mut JoinSet<()>) -> Self {
        let (news, told) = unbounded_channel();
        tasks.spawn(deliver(told, webhook));
        Self {
            node: node.into(),
            news,
        }
    }

    /// Trouble with a SKU has begun.
    pub fn raise(&self, trouble: Trouble, sku: &Sku, text: impl Display) {
        self.begun(trouble, about(sku), text.to_string());
    }

    /// This node is in trouble.
    pub fn raise_here(&self, trouble: Trouble, text: impl Display) {
        self.begun(trouble, self.node.to_string(), text.to_string());
    }

    /// Trouble with a SKU is over; if it comes again, it is told again.
    pub fn over(&self, trouble: Trouble, sku: &Sku) {
        self.tell(News::Over(trouble, about(sku)));
    }

    /// This node is out of trouble.
    pub fn over_here(&self, trouble: Trouble) {
        self.tell(News::Over(trouble, self.node.to_string()));
    }

    fn begun(&self, alert: Trouble, about: String, text: String) {
        self.tell(News::Begun(Alert {
            alert,
            about,
            text,
            node: self.node.to_string(),
            at_ms: clock::now_ms(),
        }));
    }

    fn tell(&self, news: News) {
        // Nobody listens any more when the process ends.
        let _ = self.news.send(news);
    }
}

fn about(sku: &Sku) -> String {
    format!("{}/{}", sku.sale, sku.sku)
}

/// Tells each trouble that is not known yet. Deliveries run side by side: one that hangs keeps no other waiting.
async fn deliver(mut told: UnboundedReceiver<News>, url: Option<String>) {
    let mut known = HashSet::new();
    let mut deliveries = JoinSet::new();
    let client = reqwest::Client::builder().no_proxy().timeout(TRY_TIMEOUT);
    let client = client.build().unwrap_or_default();
    while let Some(news) = told.recv().await {
        while deliveries.try_join_next().is_some() {}
        match news {
            News::Over(trouble, about) => drop(known.remove(&(trouble, about))),
            News::Begun(alert) if known.insert((alert.alert, alert.about.clone())) => {
                let Alert {
                    alert: trouble,
                    about,
                    text,
                    ..
                } = &alert;
                tracing::error!(?trouble, about, "ALERT: {text}");
                for _ in 0..parts().deliveries() {
                    let Some(url) = &url else { continue };
                    let post = client.post(url).json(&alert);
                    deliveries.spawn(send(post));
                }
            }
            News::Begun(_) => {}
        }
    }
}

async fn send(post: reqwest::RequestBuilder) {
    let mut failed = String::new();
    for _ in 0..TRIES {
        let Some(post) = post.try_clone() else { return }; // A JSON body can always be sent again.
        match post
            .send()
            .await
            .and_then(reqwest::Response::error_for_status)
        {
            Ok(_) => return,
            Err(error) => failed = error.to_string(),
        }
        tokio::time::sleep(TRY_PAUSE).await;
    }
    tracing::error!(reason = failed, "an alert could not be delivered");
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use axum::Router;
    use axum::http::StatusCode;
    use axum::routing::post;
    use tokio::net::TcpListener;

    use super::*;
    use crate::sale::sku::{Gate, Rules};

    /// A webhook that refuses the first call, and what it was sent.
    struct Webhook {
        url: String,
        calls: Arc<AtomicUsize>,
        got: Arc<Mutex<Vec<String>>>,
    }

    impl Webhook {
        async fn start(tasks: &mut JoinSet<()>) -> Self {
            let (calls, got) = (
                Arc::<AtomicUsize>::default(),
                Arc::<Mutex<Vec<_>>>::default(),
            );
            let (counted, kept) = (Arc::clone(&calls), Arc::clone(&got));
            let answer = move |body: String| async move {
                if counted.fetch_add(1, Ordering::Relaxed) == 0 {
                    return StatusCode::SERVICE_UNAVAILABLE;
                }
                kept.lock().unwrap().push(body);
                StatusCode::OK
            };
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let url = format!("http://{}/alerts", listener.local_addr().unwrap());
            let router = Router::new().route("/alerts", post(answer));
            tasks.spawn(async { axum::serve(listener, router).await.unwrap() });
            Self { url, calls, got }
        }

        async fn called(&self, times: usize) {
            let deadline = tokio::time::Instant::now() + Duration::from_secs(20);
            while self.calls.load(Ordering::Relaxed) < times {
                assert!(tokio::time::Instant::now() < deadline, "{times} calls");
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
    }

    #[tokio::test]
    async fn a_trouble_is_told_once_until_it_is_over() {
        let mut tasks = JoinSet::new();
        let webhook = Webhook::start(&mut tasks).await;
        let alerts = Alerts::start("here", Some(webhook.url.clone()), &mut tasks);
        let sku = |name: &str| Sku::new("sale", name, Rules::default(), Gate::Open);
        for _ in 0..3 {
            alerts.raise(Trouble::StockPaused, &sku("a"), "it stands still");
        }
        webhook.called(2).await;
        alerts.raise(Trouble::StockPaused, &sku("b"), "it stands still");
        webhook.called(3).await;
        alerts.over(Trouble::StockPaused, &sku("a"));
        alerts.raise(Trouble::StockPaused, &sku("a"), "again");
        webhook.called(4).await;
        alerts.raise_here(Trouble::QueueDown, "gone");
        webhook.called(5).await;
        let got = webhook.got.lock().unwrap().clone();
        let read: Vec<serde_json::Value> = got
            .iter()
            .map(|body| serde_json::from_str(body).unwrap())
            .collect();
        let told: Vec<_> = read
            .iter()
            .map(|one| {
                [&one["alert"], &one["about"], &one["node"]].map(|field| field.as_str().unwrap())
            })
            .collect();
        assert_eq!(
            told,
            [
                ["stock_paused", "sale/a", "here"],
                ["stock_paused", "sale/b", "here"],
                ["stock_paused", "sale/a", "here"],
                ["queue_down", "here", "here"],
            ]
        );
    }
}
