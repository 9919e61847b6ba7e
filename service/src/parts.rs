//! The parts of the service that can be replaced by a broken one. A normal build has the real ones and no choice; in a
//! build with the feature `mutants` one is chosen at start, see `mutants/`.

use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use redis::RedisResult;
use redis::aio::MultiplexedConnection;
use sqlx::{MySqlConnection, Result as SqlResult};

use crate::queue::{Decision, QueuePath, Submitted};
use crate::reconcile::rebuild::{RebuildError, Rebuilder};
use crate::sale::buy::Purchase;
use crate::sale::order::{OrderId, OrderMessage};
use crate::sale::sku::Sku;
use crate::stock::identity::Identity;
use crate::stock::round::{Batch, RoundAnswer};
use crate::store::{Delivery, Shards, Step};

/// A part that takes its time, instead of the real one.
pub type Instead<'a, T> = Option<Pin<Box<dyn Future<Output = T> + Send + 'a>>>;

/// What becomes of an order that MySQL cannot store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Poison {
    Parked,
    Dropped,
    OfferedAgain,
}

/// What each part does with what it is given: the defaults are the real service.
pub trait Parts: Sync {
    /// A script of the stock, as it is loaded at start.
    fn script(&self, text: &'static str) -> Cow<'static, str> {
        Cow::Borrowed(text)
    }

    /// The script calls of one round.
    fn reserve<'a>(
        &self,
        _connection: &'a mut MultiplexedConnection,
        _batches: &'a [Batch],
        _now_ms: u64,
    ) -> Instead<'a, RedisResult<RoundAnswer>> {
        None
    }

    /// What became of an order, as its buyer is told.
    fn told(&self, submitted: Submitted) -> Submitted {
        submitted
    }

    /// A node keeps in mind that a SKU is sold out.
    fn remembers_sold_out(&self) -> bool {
        true
    }

    /// The id of a purchase's order.
    fn order_id(&self, _purchase: &Purchase<'_>, derived: OrderId) -> OrderId {
        derived
    }

    /// What becomes of a half message after its reservation.
    fn settled(&self, decided: Decision) -> Decision {
        decided
    }

    /// That an order was never reserved is stored before its message is rolled back.
    fn stores_rejections(&self) -> bool {
        true
    }

    /// The answer to a check-back, without a look at the ledger.
    fn check_back(&self) -> Option<Decision> {
        None
    }

    /// How long the answer to a pull is waited for.
    fn pull_patience(&self, own: Duration) -> Duration {
        own
    }

    /// So many orders may wait to be applied before buyers are told to come later.
    fn backlog_max(&self, own: u64) -> u64 {
        own
    }

    /// The orders of one poll.
    fn polled(&self, orders: Vec<OrderMessage>) -> Vec<OrderMessage> {
        orders
    }

    /// Whose units a batch takes from MySQL's stock: those of the orders that it has just stored.
    fn takers<'a, 'm>(&self, delivery: Delivery<'a, 'm>) -> &'a [&'m OrderMessage] {
        delivery.stored
    }

    /// What makes a second live order of a user collide with the first.
    fn live_key(&self) -> Option<u8> {
        Some(1)
    }

    /// Messages are marked as consumed after their effect.
    fn marks_last(&self) -> bool {
        false
    }

    /// Whatever is done between two steps of a batch, in its transaction.
    fn after<'a>(
        &self,
        _step: Step,
        _connection: &'a mut MySqlConnection,
    ) -> Instead<'a, SqlResult<()>> {
        None
    }

    /// A statement that changes an order or the stock.
    fn statement(&self, text: &'static str) -> Cow<'static, str> {
        Cow::Borrowed(text)
    }

    /// The table that a cancelled order's units go back to.
    fn returned_to(&self, shards: Shards, sale: &str, sku: &str) -> String {
        shards.table(sale, sku)
    }

    /// A top-up closes its SKU's gate, so that the keeper brings the units to Redis.
    fn brings_top_ups(&self) -> bool {
        true
    }

    /// Rows that a decrement has changed.
    fn decremented(&self, rows: SqlResult<u64>) -> SqlResult<u64> {
        rows
    }

    /// An announcement was sent, as the relay sees it.
    fn is_sent(&self, is_sent: bool) -> bool {
        is_sent
    }

    /// An order whose message came too late is rejected, with its release.
    fn rejects_stale(&self) -> bool {
        true
    }

    /// An order that MySQL cannot store.
    fn poison(&self) -> Poison {
        Poison::Parked
    }

    /// Redis gives back what an order that is rejected for this reason has reserved.
    fn releases(&self, _reason: &str) -> bool {
        true
    }

    /// A queue's messages are finished before MySQL has them.
    fn finishes_first(&self, _path: QueuePath) -> bool {
        false
    }

    /// Reservations that nobody brought to MySQL become orders.
    fn adopts(&self) -> bool {
        true
    }

    /// How long a replica's acknowledgement is waited for.
    fn replica_patience(&self, own: Duration) -> Duration {
        own
    }

    /// How often each alert is sent.
    fn deliveries(&self) -> usize {
        1
    }

    /// What Redis may sell is read from the replica, however far it is behind.
    fn trusts_replica(&self) -> bool {
        false
    }

    /// Bringing a SKU back before its gate reopens.
    fn rebuild<'a>(
        &self,
        _rebuilder: &'a Rebuilder,
        _sku: &'a Arc<Sku>,
        _epoch: u64,
    ) -> Instead<'a, Result<Arc<Identity>, RebuildError>> {
        None
    }
}

/// The service as it should be.
#[derive(Debug, Clone, Copy)]
pub struct Real;

impl Parts for Real {}

/// The parts of this process. There is one kind only, so the compiler calls it directly.
#[cfg(not(feature = "mutants"))]
#[inline]
#[must_use]
pub fn parts() -> &'static dyn Parts {
    &Real
}

#[cfg(feature = "mutants")]
pub use crate::mutants::parts;
