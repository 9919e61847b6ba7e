//! The operators' calls: define a sale, warm it up, open it, close it. All are audited.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::{Response, StatusCode, header};
use axum::middleware::Next;
use serde::Deserialize;

use crate::gateway::App;
use crate::gateway::problem::{json, problem, problem_with_detail};
use crate::gateway::reason::Reason;
use crate::reconcile::rebuild::{RebuildError, Rebuilder};
use crate::sale::buy::is_sale_name;
use crate::sale::catalogue::Catalogue;
use crate::sale::sku::{Gate, Rules, Sku};
use crate::stock::StockError;
use crate::store::{SaleState, Store, StoreError};

/// Who the audit log names; there is one operators' token.
const OPERATOR: &str = "operator";

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
}

/// `PUT /ops/v1/sales/{sale}/skus/{sku}`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StockDefinition {
    stock: u32,
}

/// An operator's call that was not carried out.
#[derive(Debug, thiserror::Error)]
pub enum SalesError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Stock(#[from] StockError),
    #[error(transparent)]
    Rebuild(#[from] RebuildError),
    #[error("sale {0} has no SKU in MySQL; put the sale and its SKUs first")]
    Empty(String),
    #[error("no SKU of sale {0} is known here; warm up first")]
    Unknown(String),
    #[error("{sale}/{sku} was not warmed up on the Redis primary that answers now; warm up first")]
    NotWarm { sale: String, sku: String },
    #[error(
        "`{0}` is no name of a sale or SKU: 1 to 64 printable ASCII characters without {{ }} | : \" \\"
    )]
    Name(String),
}

/// Carries out what operators ask for.
#[derive(Clone)]
pub struct SaleDesk {
    pub catalogue: Arc<Catalogue>,
    pub store: Store,
    pub rebuilder: Rebuilder,
}

impl SaleDesk {
    /// Learns the sales that MySQL knows. Those that are open stay paused until the keeper has made
    /// sure of their stock.
    ///
    /// # Errors
    /// MySQL does not answer.
    pub async fn load(&self) -> Result<(), StoreError> {
        for sale in self.store.sales().await? {
            let gate = match sale.state {
                SaleState::Prepared => Gate::Prepared,
                SaleState::Open => Gate::Paused,
                SaleState::Closed => Gate::Closed,
            };
            self.learn(&sale.sale, gate).await?;
        }
        Ok(())
    }

    /// Overwrites Redis from MySQL for every SKU of the sale and compares both; leaves the gates
    /// closed. May be repeated.
    ///
    /// # Errors
    /// A difference, or a store that does not answer: the sale must not open.
    pub async fn warm_up(&self, sale: &str) -> Result<usize, SalesError> {
        let skus = self.learn(sale, Gate::Prepared).await?;
        if skus.is_empty() {
            return Err(SalesError::Empty(sale.to_owned()));
        }
        self.store.set_sale_state(sale, SaleState::Prepared).await?;
        for sku in &skus {
            sku.set_gate(Gate::Prepared);
        }
        for sku in &skus {
            self.rebuilder.close_drain_rebuild(sku).await?;
        }
        self.audit("warm-up", sale, &format!("{} SKUs", skus.len()))
            .await?;
        Ok(skus.len())
    }

    /// Opens the gates of a sale that is warm. MySQL first: a restart half way then finishes the job.
    ///
    /// # Errors
    /// Not warmed up, or a store does not answer: some gates may be open.
    pub async fn open(&self, sale: &str) -> Result<usize, SalesError> {
        let skus = self.catalogue.of_sale(sale);
        if skus.is_empty() {
            return Err(SalesError::Unknown(sale.to_owned()));
        }
        if let Some(cold) = skus.iter().find(|sku| !self.rebuilder.stock.is_ready(sku)) {
            return Err(SalesError::NotWarm {
                sale: cold.sale.clone(),
                sku: cold.sku.clone(),
            });
        }
        self.store.set_sale_state(sale, SaleState::Open).await?;
        for sku in skus.iter().filter(|sku| sku.gate() != Gate::Paused) {
            self.rebuilder
                .stock
                .set_gate(sku, sku.epoch(), Gate::Open)
                .await?;
            sku.set_gate(Gate::Open);
        }
        self.audit("open", sale, &format!("{} SKUs", skus.len()))
            .await?;
        Ok(skus.len())
    }

    /// Closes the gates for good.
    ///
    /// # Errors
    /// A store does not answer; this node sells nothing any more all the same.
    pub async fn close(&self, sale: &str) -> Result<usize, SalesError> {
        let skus = self.catalogue.of_sale(sale);
        for sku in &skus {
            sku.set_gate(Gate::Closed);
        }
        self.store.set_sale_state(sale, SaleState::Closed).await?;
        for sku in &skus {
            self.rebuilder.close_in_redis(sku).await;
        }
        self.audit("close", sale, &format!("{} SKUs", skus.len()))
            .await?;
        Ok(skus.len())
    }

    async fn learn(&self, sale: &str, gate: Gate) -> Result<Vec<Arc<Sku>>, StoreError> {
        let images = self.store.sku_images(sale).await?;
        let add = |image: crate::store::SkuImage| {
            let rules = Rules {
                limit_per_user: image.limit_per_user,
                starts_at_ms: image.starts_at_ms,
                ends_at_ms: image.ends_at_ms,
            };
            self.catalogue.get_or_add(sale, &image.sku, rules, gate)
        };
        Ok(images.into_iter().map(add).collect())
    }

    async fn audit(&self, what: &str, sale: &str, after: &str) -> Result<(), StoreError> {
        tracing::info!(sale, what, after, "operator");
        self.store.audit(OPERATOR, what, sale, "", after).await
    }
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
        let store = &app.sales.store;
        store
            .put_sale(
                &sale,
                given.limit_per_user,
                given.starts_at_ms,
                given.ends_at_ms,
            )
            .await?;
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

fn told(sale: &str, done: Result<usize, SalesError>) -> Response<Body> {
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
        SalesError::Name(_) => Reason::BadRequest,
        SalesError::Store(error) | SalesError::Rebuild(RebuildError::Store(error))
            if error.is_transient() =>
        {
            Reason::StoreUnavailable
        }
        SalesError::Stock(_) | SalesError::Rebuild(RebuildError::Stock(_)) => Reason::Paused,
        _ => Reason::Conflict,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
