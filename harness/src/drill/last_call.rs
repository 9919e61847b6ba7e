//! The last call: when a sale should have sold out and did not, buyers come until nothing is left or nobody is served.
//!
//! How much a service sells while the load runs hangs on the machine; whether it sells *all* of it does not. So
//! what is judged (L4) is what buyers could buy in the end, and a slow machine is no false alarm.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::folder::RunFolder;
use super::plan::Plan;
use super::prepare::Prepared;
use super::run::Bench;
use super::sell::{self, SellError};
use crate::figures::signed;
use crate::history::FaultEpoch;
use crate::load::population::Population;
use crate::load::schedule::{Phase, Schedule, Shape};
use crate::load::spec::{Load, LoadSpec};
use crate::load::summary::LoadSummary;
use crate::load::{self, LoadJob, Progress};
use crate::observe::{Settled, StoreReader};

/// Above every arrival of a load, below every journey.
pub(crate) const KEYS: Range<u64> = 1 << 61..1 << 62;
/// Users that no load has.
const FIRST_USER: u64 = 900_000_000_000;
/// So many that hardly any comes twice.
const USERS: u64 = 1_000_000_000;

/// The SKU with the most units left could be sold out in this time, were everybody served.
const SOLD_IN_S: f64 = 10.0;
const RATE_PER_S: Range<f64> = 100.0..2_000.0;
const CONNECTIONS: u32 = 32;
const LONGEST: Duration = Duration::from_secs(60);
/// After so long without one unit sold, no more will be.
const PATIENCE: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(250);
const LEAD_IN: Duration = Duration::from_millis(300);

/// What came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LastCall {
    /// In the store before it, all SKUs together.
    pub units_left: i64,
    pub end: LastCallEnd,
    /// Of its own load; the sale's is in `load.json`.
    pub load: LoadSummary,
}

/// Why no more buyers came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LastCallEnd {
    SoldOut,
    NobodyServed,
    TimeUp,
    /// Ctrl-C.
    CutShort,
}

/// The purchase belongs to the last call.
pub fn is_last_call(key: u64) -> bool {
    KEYS.contains(&key)
}

/// Where the sale took place.
#[derive(Clone, Copy)]
pub struct Shop<'r> {
    pub plan: &'r Plan,
    pub prepared: &'r Prepared,
    pub bench: &'r Bench,
    pub folder: &'r RunFolder,
    /// The sale's first arrival; the last call's times are of the same clock.
    pub start: Instant,
    pub epoch: &'r Arc<FaultEpoch>,
}

/// Lets buyers come for what is left in the store at rest, if the plan expects a sale that sells out.
///
/// # Errors
/// The load could not be offered or recorded.
pub async fn last_call(
    shop: Shop<'_>,
    rest: &Settled,
    reader: &mut StoreReader,
) -> Result<Option<LastCall>, SellError> {
    let each = rest.end.stock.iter().map(|row| row.available.max(0));
    let (units_left, most_left) = (each.clone().sum(), each.max().unwrap_or(0));
    let Shop { plan, bench, .. } = shop;
    // Stores that should agree and do not have failed already.
    let at_rest = rest.converged_ms.is_some() || !plan.expect.stores_agree();
    let cut_short = bench.cancel.load(Ordering::Relaxed);
    if !plan.expect.sell_out || units_left == 0 || !at_rest || cut_short {
        return Ok(None);
    }
    bench.narrate.say(&format!(
        "last call: {} units are left; buyers come for them",
        signed(units_left)
    ));
    let closed = Arc::new(AtomicBool::new(false));
    let job = job(shop, most_left, &closed)?;
    let mut load = tokio::task::spawn_blocking(move || load::run(job));
    let (end, figures) = tokio::select! {
        figures = &mut load => (LastCallEnd::TimeUp, figures),
        end = watch(reader, &bench.cancel) => {
            closed.store(true, Ordering::Relaxed);
            (end, load.await)
        }
    };
    Ok(Some(LastCall {
        units_left,
        end,
        load: figures??.summary(),
    }))
}

fn job(shop: Shop<'_>, most_left: i64, closed: &Arc<AtomicBool>) -> Result<LoadJob, SellError> {
    let begins = shop.start.elapsed() + LEAD_IN;
    Ok(LoadJob {
        spec: spec(shop.plan, most_left, begins),
        endpoint: shop.prepared.entrance.clone(),
        variables: shop.prepared.variables.clone(),
        history: Some(sell::history(
            shop.folder,
            RunFolder::LAST_CALL_HISTORY,
            shop.plan,
        )?),
        start: shop.start,
        progress: Arc::new(Progress::default()),
        epoch: Arc::clone(shop.epoch),
        cancel: Arc::clone(closed),
    })
}

/// Until nothing is left, or nobody has been served for long.
async fn watch(reader: &mut StoreReader, cancel: &AtomicBool) -> LastCallEnd {
    let mut fewest = i64::MAX;
    let mut sold_at = Instant::now();
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let left = reader.sample().await.store_available;
        if left.is_some_and(|left| left < fewest) {
            fewest = left.unwrap_or(fewest);
            sold_at = Instant::now();
        }
        match left {
            _ if cancel.load(Ordering::Relaxed) => return LastCallEnd::CutShort,
            Some(left) if left <= 0 => return LastCallEnd::SoldOut,
            _ if sold_at.elapsed() > PATIENCE => return LastCallEnd::NobodyServed,
            _ => {}
        }
    }
}

/// As the sale's load, but calm: everybody comes once, for any SKU, and does nothing after that.
fn spec(plan: &Plan, most_left: i64, begins: Duration) -> LoadSpec {
    let skus = plan.sale.skus.len() as f64;
    let quantity = f64::from(plan.population.quantity.max(1));
    let wanted = most_left as f64 * skus / quantity / SOLD_IN_S;
    let rate_per_s = wanted.clamp(RATE_PER_S.start, RATE_PER_S.end);
    let phase = |name: &str, rate_per_s, duration: Duration| Phase {
        name: name.to_owned(),
        shape: Shape::Constant {
            rate_per_s,
            duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
        },
    };
    LoadSpec {
        load: Load {
            schedule: Schedule::of(vec![
                phase("sale", 0.0, begins),
                phase("last call", rate_per_s, LONGEST),
            ]),
            connections: CONNECTIONS,
            depth: 1,
            fitted: None,
            ..plan.load.clone()
        },
        population: Population {
            first_key: KEYS.start,
            first_user: FIRST_USER,
            quantity: plan.population.quantity,
            ..Population::of(USERS)
        },
        ..plan.load_spec()
    }
}
