//! Units added to a SKU while it is sold: asked for by one person, approved by another, and audited (DB-9).

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::Response;
use serde::Deserialize;

use super::sale_desk::{SaleDesk, SalesError};
use super::sales::told;
use crate::gateway::App;
use crate::sale::buy::is_sale_name;
use crate::store::TopUp;

/// Characters of a name in the audit log.
const PERSON_MAX: usize = 64;

/// `PUT /ops/v1/sales/{sale}/skus/{sku}/top-ups/{id}`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TopUpDefinition {
    /// Added to what the sale has.
    units: u32,
    asked_by: String,
    /// Somebody else.
    approved_by: String,
}

pub async fn put(
    State(app): State<Arc<App>>,
    Path((sale, sku, id)): Path<(String, String, String)>,
    Json(given): Json<TopUpDefinition>,
) -> Response<Body> {
    let top_up = TopUp {
        id,
        sale,
        sku,
        units: given.units,
        asked_by: given.asked_by,
        approved_by: given.approved_by,
    };
    told(&top_up.sale, app.sales.top_up(&top_up).await)
}

impl SaleDesk {
    /// Adds units to a SKU of an open sale, in both stores. It stands still while the keeper does that in Redis.
    ///
    /// # Errors
    /// Nothing was added, except that a SKU which is not ready in time has its units and stays closed until it is.
    pub async fn top_up(&self, top_up: &TopUp) -> Result<usize, SalesError> {
        refuse_unapproved(top_up)?;
        self.store.top_up(top_up).await?;
        tracing::info!(?top_up, "operator");
        self.until_ready(&top_up.sale, |row| row.sku == top_up.sku)
            .await
    }
}

/// Two people, and units.
fn refuse_unapproved(top_up: &TopUp) -> Result<(), SalesError> {
    let TopUp {
        id,
        units,
        asked_by,
        approved_by,
        ..
    } = top_up;
    let is_somebody = |name: &str| !name.trim().is_empty() && name.chars().count() <= PERSON_MAX;
    let needs = [
        (is_sale_name(id), "an id like the name of a sale"),
        (*units > 0, "units, at least 1"),
        (is_somebody(asked_by), "asked_by, 1 to 64 characters"),
        (is_somebody(approved_by), "approved_by, 1 to 64 characters"),
        (
            asked_by.trim() != approved_by.trim(),
            "approved_by somebody else than who asked",
        ),
    ];
    let missing: Vec<&str> = needs
        .iter()
        .filter(|(is_there, _)| !is_there)
        .map(|(_, what)| *what)
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(SalesError::Unapproved(missing.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_top_up_has_two_people_and_everything_that_it_lacks_is_named() {
        let top_up = |units, asked_by: &str, approved_by: &str| TopUp {
            id: "t-1".to_owned(),
            sale: "sale".to_owned(),
            sku: "sku".to_owned(),
            units,
            asked_by: asked_by.to_owned(),
            approved_by: approved_by.to_owned(),
        };
        assert!(refuse_unapproved(&top_up(1, "Ann", "Bob")).is_ok());
        for (given, lacks) in [
            (top_up(0, "Ann", "Bob"), "units, at least 1"),
            (top_up(1, " ", "Bob"), "asked_by, 1 to 64 characters"),
            (
                top_up(0, "Ann", "Ann "),
                "units, at least 1; approved_by somebody else than who asked",
            ),
        ] {
            let error = refuse_unapproved(&given).unwrap_err().to_string();
            assert_eq!(error, format!("the top-up needs {lacks}"));
        }
    }
}
