//! The operators' calls over HTTP, behind a bearer token.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::{Response, StatusCode, header};
use axum::middleware::Next;
use serde::Deserialize;

use super::sale_desk::SalesError;
use crate::gateway::App;
use crate::gateway::problem::{json, problem, problem_with_detail};
use crate::gateway::reason::Reason;
use crate::queue::QueuePath;
use crate::sale::buy::is_sale_name;
use crate::sale::sku::Rules;

/// `PUT /ops/v1/sales/{sale}`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SaleDefinition {
    /// Units one user may hold of a SKU; 0 = any number.
    limit_per_user: u32,
    #[serde(default)]
    starts_at_ms: u64,
    /// 0 = no end.
    #[serde(default)]
    ends_at_ms: u64,
    /// How the orders get to MySQL; fixed by the first warm-up. Without it that of the node's settings.
    #[serde(default)]
    queue: Option<QueuePath>,
}

/// `PUT /ops/v1/sales/{sale}/skus/{sku}`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StockDefinition {
    stock: u32,
}

/// Lets only operators through.
pub async fn authorise(
    State(app): State<Arc<App>>,
    request: Request,
    next: Next,
) -> Response<Body> {
    let given = request
        .headers()
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok());
    let token = given.and_then(|value| value.strip_prefix("Bearer "));
    if token.is_some_and(|token| is_equal(token.as_bytes(), app.ops_token.as_bytes())) {
        next.run(request).await
    } else {
        problem(Reason::Unauthorized)
    }
}

/// Takes the same time wherever the texts differ.
fn is_equal(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len()
        && a.iter()
            .zip(b)
            .fold(0, |difference, (a, b)| difference | (a ^ b))
            == 0
}

pub async fn put_sale(
    State(app): State<Arc<App>>,
    Path(sale): Path<String>,
    Json(given): Json<SaleDefinition>,
) -> Response<Body> {
    let put = async {
        named(&[&sale])?;
        let rules = Rules {
            limit_per_user: given.limit_per_user,
            starts_at_ms: given.starts_at_ms,
            ends_at_ms: given.ends_at_ms,
            queue: app.sales.queue_of(&sale, given.queue).await?,
        };
        app.sales.store.put_sale(&sale, rules).await?;
        app.sales
            .audit("put sale", &sale, &format!("{given:?}"))
            .await?;
        Ok(0)
    };
    told(&sale, put.await)
}

pub async fn put_sku(
    State(app): State<Arc<App>>,
    Path((sale, sku)): Path<(String, String)>,
    Json(given): Json<StockDefinition>,
) -> Response<Body> {
    let put = async {
        named(&[&sale, &sku])?;
        app.sales
            .store
            .put_sku(&sale, &sku, i64::from(given.stock))
            .await?;
        app.sales
            .audit("put sku", &sale, &format!("{sku}: {}", given.stock))
            .await?;
        Ok(1)
    };
    told(&sale, put.await)
}

pub async fn warm_up(State(app): State<Arc<App>>, Path(sale): Path<String>) -> Response<Body> {
    told(&sale, app.sales.warm_up(&sale).await)
}

pub async fn open(State(app): State<Arc<App>>, Path(sale): Path<String>) -> Response<Body> {
    told(&sale, app.sales.open(&sale).await)
}

pub async fn close(State(app): State<Arc<App>>, Path(sale): Path<String>) -> Response<Body> {
    told(&sale, app.sales.close(&sale).await)
}

fn named(names: &[&str]) -> Result<(), SalesError> {
    match names.iter().find(|name| !is_sale_name(name)) {
        Some(name) => Err(SalesError::Name((*name).to_owned())),
        None => Ok(()),
    }
}

pub(super) fn told(sale: &str, done: Result<usize, SalesError>) -> Response<Body> {
    match done {
        Ok(skus) => json(
            StatusCode::OK,
            serde_json::json!({ "sale": sale, "skus": skus }).to_string(),
        ),
        Err(error) => {
            tracing::warn!(sale, %error, "operator's call not carried out");
            problem_with_detail(reason(&error), &error.to_string())
        }
    }
}

fn reason(error: &SalesError) -> Reason {
    match error {
        SalesError::Name(_) | SalesError::Unapproved(_) => Reason::BadRequest,
        SalesError::Store(error) if error.is_transient() => Reason::StoreUnavailable,
        // What was asked for is done, or will be.
        SalesError::Stock(_) | SalesError::NotReady { .. } => Reason::Paused,
        _ => Reason::Conflict,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_under_way_is_to_be_asked_again_and_what_cannot_be_is_not() {
        let (sale, sku, why) = ("sale".to_owned(), "sku".to_owned(), String::new());
        let late = SalesError::NotReady { sale, sku, why };
        assert!(reason(&late).status().is_server_error());
        let never = SalesError::Empty("sale".to_owned());
        assert!(reason(&never).status().is_client_error());
    }

    #[test]
    fn only_the_whole_token_is_the_token() {
        for (given, expected) in [
            ("secret", true),
            ("secre", false),
            ("secret1", false),
            ("Secret", false),
            ("", false),
        ] {
            assert_eq!(is_equal(given.as_bytes(), b"secret"), expected, "{given}");
        }
    }
}
