//! A shop with a challenge, whose orders are decided at the second poll.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use serde_json::{Value, json};

use crate::http::HttpServer;

/// What it was asked, and what it sold.
#[derive(Debug, Default)]
pub struct Books {
    pub left: u32,
    /// The state that a decided order has.
    pub decides: &'static str,
    /// Challenges given out and not yet used.
    pub challenges: Vec<String>,
    /// Bodies of the buys, in the order they came.
    pub buys: Vec<Value>,
    /// Polls by order.
    pub polls: HashMap<String, u32>,
    /// `pay o1`, `cancel o2`.
    pub settled: Vec<String>,
}

/// Runs until it is dropped.
pub struct Shop {
    pub address: SocketAddr,
    pub books: Arc<Mutex<Books>>,
    _server: HttpServer,
}

impl Shop {
    /// With so many units; orders are decided as `decides`.
    pub fn open(stock: u32, decides: &'static str) -> Self {
        let books = Arc::new(Mutex::new(Books {
            left: stock,
            decides,
            ..Books::default()
        }));
        let routes = axum::Router::new()
            .route("/challenge", get(challenge))
            .route("/orders", post(buy))
            .route("/orders/{id}", get(status))
            .route("/orders/{id}/{action}", post(settle))
            .with_state(Arc::clone(&books));
        let server = HttpServer::run(routes);
        Self {
            address: server.address,
            books,
            _server: server,
        }
    }
}

type Shared = State<Arc<Mutex<Books>>>;
type Answer = (StatusCode, Json<Value>);

async fn challenge(State(books): Shared) -> Answer {
    let mut books = books.lock().unwrap();
    let token = format!("t{}", books.challenges.len() + books.buys.len());
    books.challenges.push(token.clone());
    (StatusCode::OK, Json(json!({ "token": token })))
}

async fn buy(State(books): Shared, Json(body): Json<Value>) -> Answer {
    let mut books = books.lock().unwrap();
    let token = body["challenge"].as_str().unwrap_or_default().to_owned();
    let request_id = body["request_id"].as_str().unwrap().to_owned();
    books.buys.push(body);
    if !token.is_empty() && !books.challenges.contains(&token) {
        return (
            StatusCode::FORBIDDEN,
            Json(json!({"reason": "no_challenge"})),
        );
    }
    if books.left == 0 {
        return (StatusCode::CONFLICT, Json(json!({"reason": "sold_out"})));
    }
    books.left -= 1;
    let order = format!("order-of-{request_id}");
    (
        StatusCode::ACCEPTED,
        Json(json!({"state": "queued", "order_id": order})),
    )
}

async fn status(State(books): Shared, Path(id): Path<String>) -> Answer {
    let mut books = books.lock().unwrap();
    let polls = books.polls.entry(id).or_default();
    *polls += 1;
    let state = if *polls > 1 { books.decides } else { "queued" };
    (StatusCode::OK, Json(json!({ "state": state })))
}

async fn settle(State(books): Shared, Path((id, action)): Path<(String, String)>) -> Answer {
    let mut books = books.lock().unwrap();
    books.settled.push(format!("{action} {id}"));
    (StatusCode::OK, Json(json!({"state": "settled"})))
}
