//! A shop that behaves: sells what it has, answers a second click with the same order, and
//! remembers what it was asked.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use serde_json::{Value, json};

use crate::http::HttpServer;

/// Everything it was asked, and what it sold.
#[derive(Debug, Default)]
pub struct Books {
    pub available: HashMap<String, u32>,
    /// Order id by request id.
    pub orders: HashMap<String, String>,
    /// Bodies of the buys, in the order they came.
    pub buys: Vec<Value>,
    /// `pay o1`, `cancel o2`, `status o3`.
    pub follow_ups: Vec<String>,
}

/// Runs until it is dropped.
pub struct Shop {
    pub address: SocketAddr,
    pub books: Arc<Mutex<Books>>,
    _server: HttpServer,
}

impl Shop {
    /// With `stock` units of each of three SKUs.
    pub fn open(stock: u32) -> Self {
        let books = Arc::new(Mutex::new(Books {
            available: ["s0", "s1", "s2"].map(|sku| (sku.to_owned(), stock)).into(),
            ..Books::default()
        }));
        let routes = axum::Router::new()
            .route("/orders", post(buy))
            .route("/orders/{id}", get(status))
            .route("/orders/{id}/{action}", post(act))
            .with_state(Arc::clone(&books));
        let server = HttpServer::run(routes);
        Self {
            address: server.address,
            books,
            _server: server,
        }
    }
}

type Answer = (StatusCode, Json<Value>);

async fn buy(State(books): State<Arc<Mutex<Books>>>, Json(body): Json<Value>) -> Answer {
    let mut books = books.lock().unwrap();
    let request_id = body["request_id"].as_str().unwrap().to_owned();
    let sku = body["sku"].as_str().unwrap().to_owned();
    books.buys.push(body);
    if let Some(order) = books.orders.get(&request_id) {
        return (StatusCode::OK, Json(json!({"order_id": order})));
    }
    let available = books.available.get_mut(&sku).unwrap();
    if *available == 0 {
        return (StatusCode::CONFLICT, Json(json!({"reason": "sold_out"})));
    }
    *available -= 1;
    let order = format!("order-of-{request_id}");
    books.orders.insert(request_id, order.clone());
    (
        StatusCode::ACCEPTED,
        Json(json!({"state": "queued", "order_id": order})),
    )
}

async fn status(State(books): State<Arc<Mutex<Books>>>, Path(id): Path<String>) -> Answer {
    let mut books = books.lock().unwrap();
    books.follow_ups.push(format!("status {id}"));
    (StatusCode::OK, Json(json!({"state": "created"})))
}

async fn act(
    State(books): State<Arc<Mutex<Books>>>,
    Path((id, action)): Path<(String, String)>,
) -> Answer {
    let mut books = books.lock().unwrap();
    books.follow_ups.push(format!("{action} {id}"));
    match action.as_str() {
        "pay" => (StatusCode::OK, Json(json!({"state": "paid"}))),
        _ => (StatusCode::CONFLICT, Json(json!({"state": "paid"}))),
    }
}
