//! Deletes a key of a SKU, as an eviction, a wrong expiry or a wrong command would. Nothing is down, so nothing is
//! healed: the service must notice.

use deserr::Deserr;
use redis::cmd;
use serde::{Deserialize, Serialize};

use crate::drill::problems::Problems;
use crate::drill::range::Count;
use crate::faults::error::FaultError;
use crate::faults::kind::{Kind, kind};
use crate::faults::site::Site;
use crate::faults::sku_command::SkuCommand;

kind! {
    /// Deletes a key of a SKU in Redis; not healed.
    pub struct RedisKeyLoss {
        /// Number of the SKU, from 1.
        pub sku: Count,
        /// The key with the units `available`, or with what each user has `held`.
        pub key: LostKey = LostKey::Available,
    }
}

/// A key that the target file names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserr, Serialize, Deserialize)]
#[deserr(rename_all = lowercase, error = Problems)]
#[serde(rename_all = "lowercase")]
pub enum LostKey {
    Available,
    Held,
}

impl RedisKeyLoss {
    fn command(&self, site: Site<'_>) -> Result<SkuCommand, FaultError> {
        let sku = site.sku(self.sku.get())?;
        match self.key {
            LostKey::Available => SkuCommand::available(site, sku),
            LostKey::Held => SkuCommand::held(site, sku),
        }
    }
}

/// How many keys were deleted.
type Deleted = u64;

impl Kind for RedisKeyLoss {
    type State = Deleted;
    const HEALS: bool = false;

    async fn applicable(&self, _: &mut Deleted, site: Site<'_>) -> Result<String, FaultError> {
        let command = self.command(site)?;
        let primary = site.stack.redis.primary_of(command.key()).await?;
        Ok(format!("{}: deleted on {}", command.key(), primary.name()))
    }

    async fn inject(&self, deleted: &mut Deleted, site: Site<'_>) -> Result<(), FaultError> {
        let command = self.command(site)?;
        let primary = site.stack.redis.primary_of(command.key()).await?;
        *deleted = primary.query(cmd("DEL").arg(command.key())).await?;
        Ok(())
    }

    async fn receipt(&self, deleted: &mut Deleted, site: Site<'_>) -> Result<String, FaultError> {
        let command = self.command(site)?;
        match deleted {
            0 => Err(FaultError::missing(format!(
                "there was no key {}",
                command.key()
            ))),
            _ => Ok(format!("{} was there and is deleted", command.key())),
        }
    }
}
