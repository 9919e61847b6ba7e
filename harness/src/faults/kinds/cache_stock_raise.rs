//! Adds units to the cache's stock, as a wrong repair would. Nothing is down, so nothing is healed.

use crate::drill::range::Count;
use crate::faults::error::FaultError;
use crate::faults::kind::{Kind, kind};
use crate::faults::site::Site;
use crate::faults::sku_command::SkuCommand;

kind! {
    /// Adds units to the cache's stock of a SKU, as a wrong repair would; not healed.
    pub struct CacheStockRaise {
        /// Number of the SKU, from 1.
        pub sku: Count,
        /// Units added.
        pub units: Count,
    }
}

/// Units available before and after.
type Seen = Option<(Option<i64>, Option<i64>)>;

impl Kind for CacheStockRaise {
    type State = Seen;
    const HEALS: bool = false;

    async fn applicable(&self, _: &mut Seen, site: Site<'_>) -> Result<String, FaultError> {
        let sku = site.sku(self.sku.get())?;
        let (_, primary) = site.primary_of(self.sku).await?;
        Ok(format!(
            "cache stock of SKU {sku} raised by {} on {}",
            self.units.get(),
            primary.name()
        ))
    }

    async fn inject(&self, seen: &mut Seen, site: Site<'_>) -> Result<(), FaultError> {
        let sku = site.sku(self.sku.get())?;
        let available = SkuCommand::available(site, sku)?;
        let delta = [("delta", self.units.get().to_string())];
        let template = &site.target.state.cache_add;
        let add = SkuCommand::new(site, "cache_add", template, sku, &delta)?;
        let before = available.ask(site).await?;
        add.ask::<redis::Value>(site).await?;
        *seen = Some((before, available.ask(site).await?));
        Ok(())
    }

    async fn receipt(&self, seen: &mut Seen, site: Site<'_>) -> Result<String, FaultError> {
        let (before, after) =
            seen.ok_or_else(|| FaultError::missing("the stock was not changed"))?;
        let after =
            after.ok_or_else(|| FaultError::missing("the cache holds no stock of the SKU"))?;
        let before = before.map_or_else(|| "no key".to_owned(), |units| units.to_string());
        let sku = site.sku(self.sku.get())?;
        Ok(format!(
            "available units of SKU {sku} in the cache: {before} -> {after}"
        ))
    }
}
