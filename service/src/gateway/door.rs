//! The door that every request comes through. A buy is answered right here, since most buys are refused from
//! memory and a router would cost as much as the answer; everything else goes to the router, on the runtime
//! for work.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{Method, Request, Response};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use tower_service::Service;

use super::App;
use super::orders;
use super::problem::{problem, problem_with_detail};
use super::reason::Reason;

/// Largest request body, bytes.
pub const BODY_MAX: usize = 16 * 1024;
const BUY_PATH: &str = "/v1/orders";

/// One for all connections.
pub struct Door {
    app: Arc<App>,
    router: Router,
}

impl Door {
    pub fn new(app: Arc<App>) -> Self {
        let router = super::router::router(Arc::clone(&app));
        Self { app, router }
    }

    /// What the router answers runs to its end even if the buyer goes away: half a cancellation would wait for
    /// the sweep.
    pub async fn answer(&self, request: Request<Incoming>) -> Result<Response<Body>, Infallible> {
        let is_buy = request.method() == Method::POST && request.uri().path() == BUY_PATH;
        if is_buy && self.app.is_gateway {
            return Ok(self.buy(request.into_body()).await);
        }
        let mut router = self.router.clone();
        let answering = self
            .app
            .work
            .spawn(async move { router.call(request).await });
        let answered = answering.await;
        answered.unwrap_or_else(|_| Ok(problem(Reason::StoreUnavailable)))
    }

    async fn buy(&self, body: Incoming) -> Response<Body> {
        match Limited::new(body, BODY_MAX).collect().await {
            Ok(body) => orders::buy(&self.app, &body.to_bytes()).await,
            Err(error) => problem_with_detail(Reason::BadRequest, &error.to_string()),
        }
    }
}
