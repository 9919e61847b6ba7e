//! HTTP: the server, the routes, the buyers' handlers, the shape of errors.

mod corked;
mod door;
pub mod orders;
pub mod problem;
pub mod reason;
pub mod router;
pub mod server;

use metrics_exporter_prometheus::PrometheusHandle;
use tokio::runtime::Handle;

use crate::operations::dead_letters::LetterDesk;
use crate::operations::metrics::Metrics;
use crate::operations::sale_desk::SaleDesk;
use crate::queue::Queues;
use crate::sale::buy::Shop;
use crate::sale::desk::Desk;
use crate::stock::Stock;
use crate::store::Store;

/// What the handlers work with.
pub struct App {
    /// Buyers come in here; else this node only answers probes and operators.
    pub is_gateway: bool,
    /// Where everything runs that is more than an answer from memory.
    pub work: Handle,
    pub shop: Shop,
    pub desk: Desk,
    pub sales: SaleDesk,
    pub letters: LetterDesk,
    pub stock: Stock,
    pub store: Store,
    pub queues: Queues,
    pub metrics: Metrics,
    pub prometheus: PrometheusHandle,
    pub ops_token: String,
}
