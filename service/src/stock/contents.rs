//! Reads everything Redis holds of one SKU.

use redis::Value;

use super::image::Contents;
use super::keys::Keys;
use super::lane::{Lane, LaneError};

/// Fields of a hash read at once: large enough for few round trips, small enough not to block Redis.
const SCAN_COUNT: u32 = 2000;

/// Redis's contents could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ContentsError {
    #[error(transparent)]
    Lane(#[from] LaneError),
    #[error("{key} does not hold what the service writes: {reason}")]
    Damaged { key: String, reason: String },
}

/// Reads stock, held units and ledger. Not one snapshot: meant for a SKU whose gate is closed.
///
/// # Errors
/// The connection failed, or a key holds something else.
pub async fn read(lane: &Lane, keys: &Keys) -> Result<Contents, ContentsError> {
    let mut cmd = redis::cmd("HMGET");
    cmd.arg(&keys.stock).arg("available").arg("limit");
    let (available, limit) = decode(&keys.stock, lane.call(&cmd).await?)?;
    let mut contents = Contents {
        available,
        limit,
        ..Contents::default()
    };
    for (user, units) in hash(lane, &keys.held).await? {
        let units = units.parse().map_err(|_| damaged(&keys.held, &units))?;
        contents.held.insert(user, units);
    }
    contents.ledger.extend(ledger(lane, keys).await?);
    Ok(contents)
}

/// Reads the ledger: order id and entry.
///
/// # Errors
/// As of [`read`].
pub async fn ledger(lane: &Lane, keys: &Keys) -> Result<Vec<(String, String)>, ContentsError> {
    hash(lane, &keys.ledger).await
}

async fn hash(lane: &Lane, key: &str) -> Result<Vec<(String, String)>, ContentsError> {
    let mut fields = Vec::new();
    let mut cursor = 0u64;
    loop {
        let mut cmd = redis::cmd("HSCAN");
        cmd.arg(key).arg(cursor).arg("COUNT").arg(SCAN_COUNT);
        let (next, page): (u64, Vec<(String, String)>) = decode(key, lane.call(&cmd).await?)?;
        fields.extend(page);
        if next == 0 {
            return Ok(fields);
        }
        cursor = next;
    }
}

fn decode<T: redis::FromRedisValue>(key: &str, value: Value) -> Result<T, ContentsError> {
    redis::from_redis_value(value).map_err(|error| damaged(key, &error.to_string()))
}

fn damaged(key: &str, reason: &str) -> ContentsError {
    ContentsError::Damaged {
        key: key.to_owned(),
        reason: reason.to_owned(),
    }
}
