//! The target's Redis commands for one SKU.

use redis::{Cmd, FromRedisValue};

use super::error::FaultError;
use super::site::Site;

/// A command of the target file with its variables filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SkuCommand {
    words: Vec<String>,
}

impl SkuCommand {
    /// `name` is the field of the target file, for errors; `extra` are variables beside `{sku}`.
    pub fn new(
        site: Site<'_>,
        name: &'static str,
        template: &[String],
        sku: &str,
        extra: &[(&str, String)],
    ) -> Result<Self, FaultError> {
        let mut variables = extra.to_vec();
        variables.push(("sku", sku.to_owned()));
        let words = template
            .iter()
            .map(|word| site.fill(name, word, &variables))
            .collect::<Result<Vec<_>, _>>()?;
        if words.len() < 2 {
            return Err(FaultError::NoKey { command: name });
        }
        Ok(Self { words })
    }

    /// Units the cache would still sell.
    pub fn available(site: Site<'_>, sku: &str) -> Result<Self, FaultError> {
        Self::new(
            site,
            "cache_available",
            &site.target.state.cache_available,
            sku,
            &[],
        )
    }

    /// What each user holds.
    pub fn held(site: Site<'_>, sku: &str) -> Result<Self, FaultError> {
        Self::new(site, "cache_held", &site.target.state.cache_held, sku, &[])
    }

    /// Redis commands that target files use have their key in the second place.
    pub fn key(&self) -> &str {
        &self.words[1]
    }

    /// Asks the primary of the key, past the proxy.
    pub async fn ask<T: FromRedisValue>(&self, site: Site<'_>) -> Result<T, FaultError> {
        let primary = site.stack.redis.primary_of(self.key()).await?;
        let mut command = Cmd::new();
        command.arg(&self.words);
        Ok(primary.query(&command).await?)
    }
}
