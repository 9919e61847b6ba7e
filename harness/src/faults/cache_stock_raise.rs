//! Adds units to the cache's stock, as a wrong repair would. Nothing is down, so nothing is healed.

use std::time::Duration;

use super::error::FaultError;
use super::injection::{Injection, Site};
use super::sku_command::SkuCommand;

#[derive(Debug)]
pub(super) struct CacheStockRaise {
    sku: String,
    units: u32,
    /// Units available before and after.
    seen: Option<(Option<i64>, Option<i64>)>,
}

impl CacheStockRaise {
    pub fn new(sku: &str, units: u32) -> Self {
        Self {
            sku: sku.to_owned(),
            units,
            seen: None,
        }
    }
}

impl Injection for CacheStockRaise {
    async fn applicable(&mut self, site: Site<'_>) -> Result<String, FaultError> {
        let available = SkuCommand::available(site, &self.sku)?;
        let primary = site.stack.redis.primary_of(available.key()).await?;
        Ok(format!(
            "cache stock of SKU {} raised by {} on {}",
            self.sku,
            self.units,
            primary.name()
        ))
    }

    async fn inject(&mut self, site: Site<'_>) -> Result<(), FaultError> {
        let available = SkuCommand::available(site, &self.sku)?;
        let delta = [("delta", self.units.to_string())];
        let template = &site.target.state.cache_add;
        let add = SkuCommand::new(site, "cache_add", template, &self.sku, &delta)?;
        let before = available.ask(site).await?;
        add.ask::<redis::Value>(site).await?;
        self.seen = Some((before, available.ask(site).await?));
        Ok(())
    }

    async fn receipt(&mut self, _: Site<'_>) -> Result<String, FaultError> {
        let missing = |missing: &str| FaultError::NoReceipt {
            missing: missing.to_owned(),
        };
        let (before, after) = self
            .seen
            .ok_or_else(|| missing("the stock was not changed"))?;
        let after = after.ok_or_else(|| missing("the cache holds no stock of the SKU"))?;
        let before = before.map_or_else(|| "no key".to_owned(), |units| units.to_string());
        Ok(format!(
            "available units of SKU {} in the cache: {before} -> {after}",
            self.sku
        ))
    }

    fn heal_after(&self) -> Option<Duration> {
        None
    }

    async fn heal(&mut self, _: Site<'_>) -> Result<(), FaultError> {
        Ok(())
    }

    async fn is_healed(&self, _: Site<'_>) -> Result<(), FaultError> {
        Ok(())
    }
}
