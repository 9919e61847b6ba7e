//! The paths of the service.

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post, put};

use super::door::BODY_MAX;
use super::problem::problem;
use super::reason::Reason;
use super::{App, orders};
use crate::operations::{dead_letters, health, sales, top_ups};

/// The buy call is not among them: the door answers it.
pub fn router(app: Arc<App>) -> Router {
    let operators = Router::new()
        .route("/sales/{sale}", put(sales::put_sale))
        .route("/sales/{sale}/skus/{sku}", put(sales::put_sku))
        .route("/sales/{sale}/skus/{sku}/top-ups/{id}", put(top_ups::put))
        .route("/sales/{sale}/warm-up", post(sales::warm_up))
        .route("/sales/{sale}/open", post(sales::open))
        .route("/sales/{sale}/close", post(sales::close))
        .route("/dead-letters", get(dead_letters::list))
        .route("/dead-letters/{id}/replay", post(dead_letters::replay))
        .route("/dead-letters/{id}/discard", post(dead_letters::discard));
    #[cfg(feature = "failpoints")]
    let operators = operators.merge(crate::operations::rehearsal::routes());
    let operators = operators.route_layer(axum::middleware::from_fn_with_state(
        Arc::clone(&app),
        sales::authorise,
    ));
    Router::new()
        .route("/v1/orders/{id}", get(orders::status))
        .route("/v1/orders/{id}/pay", post(orders::pay))
        .route("/v1/orders/{id}/cancel", post(orders::cancel))
        .nest("/ops/v1", operators)
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .route("/metrics", get(health::metrics))
        .fallback(async || problem(Reason::NotFound))
        .layer(axum::extract::DefaultBodyLimit::max(BODY_MAX))
        .with_state(app)
}
