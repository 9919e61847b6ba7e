//! Carries out what operators ask for: define a sale, warm it up, open it, close it. All is audited.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::queue::QueuePath;
use crate::sale::catalogue::Catalogue;
use crate::sale::sku::Gate;
use crate::stock::{Stock, StockError};
use crate::store::{AuditLine, GateRow, NODE_TTL, SaleState, Store, StoreError};

/// A warm-up that takes longer has met trouble that does not pass.
const WARM_UP_MAX: Duration = Duration::from_secs(25);

/// Time between two looks at what the others have done.
const POLL_INTERVAL: Duration = Duration::from_millis(25);

/// Who the audit log names; there is one operators' token.
const OPERATOR: &str = "operator";

/// An operator's call that was not carried out.
#[derive(Debug, thiserror::Error)]
pub enum SalesError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Stock(#[from] StockError),
    #[error("sale {0} has no SKU in MySQL; put the sale and its SKUs first")]
    Empty(String),
    #[error("no SKU of sale {0} is known here; warm up first")]
    Unknown(String),
    #[error("{sale}/{sku} is not warm ({why}); warm up first")]
    NotWarm {
        sale: String,
        sku: String,
        why: String,
    },
    #[error("{sale}/{sku} is not ready yet ({why}); ask again")]
    NotReady {
        sale: String,
        sku: String,
        why: String,
    },
    #[error(
        "`{0}` is no name of a sale or SKU: 1 to 64 printable ASCII characters without {{ }} | : \" \\"
    )]
    Name(String),
    #[error("the top-up needs {0}")]
    Unapproved(String),
}

/// Carries out what operators ask for: writes it into MySQL, and waits until keeper and nodes have done their part.
#[derive(Clone)]
pub struct SaleDesk {
    pub store: Store,
    pub stock: Stock,
    pub catalogue: Arc<Catalogue>,
    /// Of sales that name none.
    pub queue: QueuePath,
}

impl SaleDesk {
    /// How the orders of a sale are to go: as asked, else as they do, else as this node's settings say.
    ///
    /// # Errors
    /// MySQL does not answer.
    pub async fn queue_of(
        &self,
        sale: &str,
        asked: Option<QueuePath>,
    ) -> Result<QueuePath, StoreError> {
        if let Some(asked) = asked {
            return Ok(asked);
        }
        let existing = self.store.sale(sale).await?;
        Ok(existing.map_or(self.queue, |sale| sale.rules.queue))
    }

    /// Has the keeper overwrite Redis from MySQL for every SKU of the sale and compare both; leaves the gates
    /// closed. May be repeated.
    ///
    /// # Errors
    /// A difference, a store that does not answer, no keeper: the sale must not open.
    pub async fn warm_up(&self, sale: &str) -> Result<usize, SalesError> {
        self.store.set_sale_state(sale, SaleState::Prepared).await?;
        self.store.doubt_sale(sale).await?;
        let skus = self.until_ready(sale, |_| true).await?;
        if skus == 0 {
            return Err(SalesError::Empty(sale.to_owned()));
        }
        self.audit("warm-up", sale, &format!("{skus} SKUs")).await?;
        Ok(skus)
    }

    /// Waits until those SKUs of a sale are ready, and all nodes know it; says how many they are.
    pub(super) async fn until_ready(
        &self,
        sale: &str,
        is_meant: impl Fn(&GateRow) -> bool,
    ) -> Result<usize, SalesError> {
        let begun = Instant::now();
        let skus = loop {
            let mut rows = self.rows(sale).await?;
            rows.retain(&is_meant);
            let Some(cold) = rows.iter().find(|row| !row.is_ready) else {
                break rows.len();
            };
            if begun.elapsed() > WARM_UP_MAX {
                return Err(SalesError::NotReady {
                    sale: cold.sale.clone(),
                    sku: cold.sku.clone(),
                    why: why_not(cold),
                });
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        };
        self.until_all_know().await?;
        Ok(skus)
    }

    /// Opens the gates of a sale that is warm. In Redis before MySQL, where nobody lets anybody in before; and in
    /// Redis again, because a rebuild may have come in between.
    ///
    /// # Errors
    /// Not warmed up, or a store does not answer: some gates may be open, and the call may be repeated.
    pub async fn open(&self, sale: &str) -> Result<usize, SalesError> {
        let rows = self.rows(sale).await?;
        if rows.is_empty() {
            return Err(SalesError::Unknown(sale.to_owned()));
        }
        if let Some(cold) = rows
            .iter()
            .find(|row| !row.is_ready && row.state != SaleState::Open)
        {
            return Err(SalesError::NotWarm {
                sale: cold.sale.clone(),
                sku: cold.sku.clone(),
                why: why_not(cold),
            });
        }
        self.move_gates(&rows, Gate::Open).await?;
        self.store.set_sale_state(sale, SaleState::Open).await?;
        let rows = self.rows(sale).await?;
        self.move_gates(&rows, Gate::Open).await?;
        self.until_all_know().await?;
        self.audit("open", sale, &format!("{} SKUs", rows.len()))
            .await?;
        Ok(rows.len())
    }

    /// Closes the gates for good.
    ///
    /// # Errors
    /// MySQL does not answer.
    pub async fn close(&self, sale: &str) -> Result<usize, SalesError> {
        self.store.set_sale_state(sale, SaleState::Closed).await?;
        let rows = self.rows(sale).await?;
        if let Err(error) = self.move_gates(&rows, Gate::Closed).await {
            tracing::warn!(%error, "gates stay open in Redis; the nodes let nobody in");
        }
        self.until_all_know().await?;
        self.audit("close", sale, &format!("{} SKUs", rows.len()))
            .await?;
        Ok(rows.len())
    }

    async fn rows(&self, sale: &str) -> Result<Vec<GateRow>, StoreError> {
        let mut rows = self.store.gates().await?.rows;
        rows.retain(|row| row.sale == sale);
        Ok(rows)
    }

    /// Moves the gates in Redis. One that is being rebuilt is left to the keeper, who looks at the sale's state.
    async fn move_gates(&self, rows: &[GateRow], gate: Gate) -> Result<(), SalesError> {
        for row in rows.iter().filter(|row| row.is_ready) {
            let sku = self
                .catalogue
                .get_or_add(&row.sale, &row.sku, row.rules, Gate::Prepared);
            self.stock.set_gate(&sku, row.epoch, gate).await?;
        }
        Ok(())
    }

    /// Returns when every live gateway has drawn the consequences of what is in MySQL now, or does not answer.
    async fn until_all_know(&self) -> Result<(), StoreError> {
        let (now_ms, begun) = (self.store.now_ms().await?, Instant::now());
        while self.store.gateways_behind(now_ms).await? > 0 {
            if begun.elapsed() > NODE_TTL {
                tracing::warn!("some nodes have not followed yet");
                break;
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        Ok(())
    }

    /// Writes a line of the audit log.
    ///
    /// # Errors
    /// MySQL does not answer.
    pub async fn audit(&self, what: &str, sale: &str, after: &str) -> Result<(), StoreError> {
        tracing::info!(sale, what, after, "operator");
        let line = AuditLine {
            who: OPERATOR,
            what,
            sale,
            before: "",
            after,
        };
        self.store.audit(line).await
    }
}

/// Why a SKU is not ready.
fn why_not(row: &GateRow) -> String {
    let why = match row.trouble.as_str() {
        "" => "no keeper has got to it; does one run?",
        trouble => trouble,
    };
    why.to_owned()
}
