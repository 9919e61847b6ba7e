//! Stock in Redis Cluster: lanes to the primaries, the Lua scripts, and what they hold of a SKU.
//!
//! Uses plain connections, not the library's cluster client: that one sends a command again when its
//! connection drops, and hides which server process answered.

pub mod connection;
pub mod contents;
pub mod identity;
pub mod image;
pub mod keys;
pub mod lane;
pub mod outcome;
pub mod round;
mod runner;
pub mod scripts;
pub mod stream;
pub mod supervisor;
pub mod topology;
pub mod view;

use std::sync::Arc;

use arc_swap::ArcSwap;
use redis::{Cmd, RedisError, Value};

use self::contents::ContentsError;
use self::identity::Identities;
use self::image::{Contents, Image, LedgerEntry};
use self::lane::{Lane, LaneError, LaneParts};
use self::view::View;
use crate::sale::order::{OrderMessage, Reserved};
use crate::sale::sku::{Gate, Sku};

/// A call to the stock that did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum StockError {
    #[error("no connection to the Redis primary of slot {slot}; it is being looked for")]
    NoLane { slot: u16 },
    #[error(transparent)]
    Lane(#[from] LaneError),
    #[error(transparent)]
    Contents(#[from] ContentsError),
    #[error("{script} answered {answer:?}")]
    Answer { script: &'static str, answer: Value },
    #[error("{sale}/{sku} is under epoch {found} in Redis, not {epoch}; another attempt has begun")]
    StaleEpoch {
        sale: String,
        sku: String,
        epoch: u64,
        found: u64,
    },
    #[error("{sale}/{sku} is being made sure of; its releases come later")]
    Rebuilding { sale: String, sku: String },
    #[error("gate of {sale}/{sku} did not move: {answer}")]
    Gate {
        sale: String,
        sku: String,
        answer: String,
    },
}

/// What the ledger says of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    Reserved,
    Released,
    /// It can never be reserved any more.
    Refused,
}

/// The result of a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Released {
    /// False: somebody released it before, or it was never reserved.
    pub is_new: bool,
    pub remaining: i64,
}

/// Handle on the stock; clones share the lanes.
#[derive(Debug, Clone)]
pub struct Stock {
    view: Arc<ArcSwap<View>>,
    identities: Arc<Identities>,
    parts: Arc<LaneParts>,
}

impl Stock {
    /// The lane to the primary of a slot, if it is open.
    #[must_use]
    pub fn lane(&self, slot: u16) -> Option<Arc<Lane>> {
        self.view.load().lane(slot).filter(|lane| !lane.is_closed())
    }

    /// The current view covers every slot with an open lane.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.view.load().is_complete()
    }

    /// The SKU can be reserved right now: its primary is the process it was verified on.
    #[must_use]
    pub fn is_ready(&self, sku: &Sku) -> bool {
        self.lane(sku.keys.slot)
            .is_some_and(|lane| lane.identity.number == sku.verified_on())
    }

    /// The number by which this node knows a server process.
    #[must_use]
    pub fn identity(&self, node_id: &str, run_id: &str) -> u64 {
        self.identities.of(node_id, run_id).number
    }

    /// Reserves. If another process answers for the SKU's slot than the one its stock was verified
    /// on, nothing is sent and the gate closes.
    pub async fn reserve(&self, sku: &Arc<Sku>, order: Arc<OrderMessage>) -> Reserved {
        let Some(lane) = self.lane(sku.keys.slot) else {
            return Reserved::Unavailable;
        };
        if lane.identity.number != sku.verified_on() {
            self.pause(sku);
            return Reserved::Unavailable;
        }
        lane.reserve(Arc::clone(sku), order).await
    }

    /// Closes an open gate on this node; says whether it was open.
    pub fn pause(&self, sku: &Sku) -> bool {
        let was_open = sku.move_gate(Gate::Open, Gate::Paused);
        if was_open {
            self.parts.metrics.gate_closures.increment(1);
            tracing::warn!(sale = sku.sale, sku = sku.sku, "gate closed");
        }
        was_open
    }

    /// Gives the units of one order back, once.
    ///
    /// # Errors
    /// No lane, the SKU is being rebuilt, or the call failed: it may have been carried out, and may be repeated.
    pub async fn release(&self, sku: &Sku, order_id: &str) -> Result<Released, StockError> {
        let answer = self
            .call(
                sku,
                &self.parts.scripts.release(&sku.keys, sku.epoch(), order_id),
            )
            .await?;
        let (done, remaining): (i64, i64) = parse("release.lua", answer)?;
        if done < 0 {
            return Err(StockError::Rebuilding {
                sale: sku.sale.clone(),
                sku: sku.sku.clone(),
            });
        }
        if done == 1 {
            self.parts.metrics.releases.increment(1);
        }
        Ok(Released {
            is_new: done == 1,
            remaining,
        })
    }

    /// Asks the ledger about an order; an order it does not know can never be reserved afterwards.
    ///
    /// # Errors
    /// As for [`Self::release`].
    pub async fn settle(&self, sku: &Sku, order_id: &str) -> Result<Settled, StockError> {
        let answer = self
            .call(sku, &self.parts.scripts.settle(&sku.keys, order_id))
            .await?;
        match parse::<String>("settle.lua", answer.clone())?.as_str() {
            "reserved" => Ok(Settled::Reserved),
            "released" => Ok(Settled::Released),
            "refused" => Ok(Settled::Refused),
            _ => Err(StockError::Answer {
                script: "settle.lua",
                answer,
            }),
        }
    }

    /// Reads an order's ledger entry and changes nothing.
    ///
    /// # Errors
    /// No lane, or the call failed.
    pub async fn look_up(
        &self,
        sku: &Sku,
        order_id: &str,
    ) -> Result<Option<LedgerEntry>, StockError> {
        let mut cmd = redis::cmd("HGET");
        cmd.arg(&sku.keys.ledger).arg(order_id);
        let entry: Option<String> = parse("ledger", self.call(sku, &cmd).await?)?;
        Ok(entry.as_deref().and_then(LedgerEntry::parse))
    }

    /// Ids of unpaid reservations whose deadline is in this span, Unix ms.
    ///
    /// # Errors
    /// No lane, or the call failed.
    pub async fn reserved_until(
        &self,
        sku: &Sku,
        from_ms: u64,
        to_ms: u64,
    ) -> Result<Vec<String>, StockError> {
        let mut cmd = redis::cmd("ZRANGEBYSCORE");
        cmd.arg(&sku.keys.deadlines).arg(from_ms).arg(to_ms);
        parse("deadlines", self.call(sku, &cmd).await?)
    }

    /// Units Redis would still sell.
    ///
    /// # Errors
    /// No lane, or the call failed.
    pub async fn available(&self, sku: &Sku) -> Result<i64, StockError> {
        let mut cmd = redis::cmd("HGET");
        cmd.arg(&sku.keys.stock).arg("available");
        let available: Option<i64> = parse("available", self.call(sku, &cmd).await?)?;
        Ok(available.unwrap_or(0))
    }

    /// Everything Redis holds of a SKU.
    ///
    /// # Errors
    /// No lane, or the call failed.
    pub async fn contents(&self, sku: &Sku) -> Result<Contents, StockError> {
        Ok(contents::read(&*self.need(sku)?, &sku.keys).await?)
    }

    /// Every entry of the ledger, by order id.
    ///
    /// # Errors
    /// No lane, or the call failed.
    pub async fn ledger(&self, sku: &Sku) -> Result<Vec<(String, LedgerEntry)>, StockError> {
        let ledger = contents::ledger(&*self.need(sku)?, &sku.keys).await?;
        let entry = |(id, entry): (String, String)| Some((id, LedgerEntry::parse(&entry)?));
        Ok(ledger.into_iter().filter_map(entry).collect())
    }

    /// Closes the gate in Redis and begins an epoch there, also on a primary that lost the SKU.
    ///
    /// # Errors
    /// Redis knows a later epoch, or the call failed.
    pub async fn fence(&self, sku: &Sku, epoch: u64) -> Result<(), StockError> {
        let cmd = self.parts.scripts.fence(&sku.keys, epoch);
        let found = parse("fence.lua", self.call(sku, &cmd).await?)?;
        is_epoch(sku, epoch, found)
    }

    /// Replaces everything Redis holds of a SKU, on this lane, under the epoch of a fence; the gate stays closed.
    ///
    /// # Errors
    /// Redis knows a later epoch, or the call failed: it may have been carried out, and may be repeated.
    pub async fn rebuild(
        &self,
        lane: &Lane,
        sku: &Sku,
        epoch: u64,
        image: &Image,
    ) -> Result<(), StockError> {
        let cmd = self.parts.scripts.rebuild(&sku.keys, epoch, image);
        let found = parse("rebuild.lua", lane.call(&cmd).await?)?;
        is_epoch(sku, epoch, found)?;
        self.parts.metrics.rebuilds.increment(1);
        Ok(())
    }

    /// Opens or closes the gate in Redis, if the epoch still holds.
    ///
    /// # Errors
    /// The epoch is stale, the SKU is missing, or the call failed.
    pub async fn set_gate(&self, sku: &Sku, epoch: u64, gate: Gate) -> Result<(), StockError> {
        let word = if gate == Gate::Open { "open" } else { "closed" };
        let answer = self
            .call(sku, &self.parts.scripts.gate(&sku.keys, epoch, word))
            .await?;
        let answer: String = parse("gate.lua", answer)?;
        if answer == word {
            return Ok(());
        }
        Err(StockError::Gate {
            sale: sku.sale.clone(),
            sku: sku.sku.clone(),
            answer,
        })
    }

    /// The open lane of a SKU.
    ///
    /// # Errors
    /// There is none at the moment.
    pub fn need(&self, sku: &Sku) -> Result<Arc<Lane>, StockError> {
        self.lane(sku.keys.slot).ok_or(StockError::NoLane {
            slot: sku.keys.slot,
        })
    }

    async fn call(&self, sku: &Sku, cmd: &Cmd) -> Result<Value, StockError> {
        Ok(self.need(sku)?.call(cmd).await?)
    }
}

fn is_epoch(sku: &Sku, epoch: u64, found: u64) -> Result<(), StockError> {
    if found == epoch {
        return Ok(());
    }
    Err(StockError::StaleEpoch {
        sale: sku.sale.clone(),
        sku: sku.sku.clone(),
        epoch,
        found,
    })
}

fn parse<T: redis::FromRedisValue>(script: &'static str, answer: Value) -> Result<T, StockError> {
    redis::from_redis_value(answer.clone())
        .map_err(RedisError::from)
        .map_err(|_| StockError::Answer { script, answer })
}
