//! Kinds that are one toxic on some links: everything but the effect and its evidence is the same.

use super::error::FaultError;
use super::kind::{Described, Kind, Need};
use super::links::{Links, Streams};
use super::site::Site;
use super::toxics::Toxics;
use crate::proxy::toxic::Effect;
use crate::proxy::traffic::Traffic;

pub(crate) trait LinkToxic: Described {
    fn links(&self) -> &Links;
    fn streams(&self) -> Streams;
    fn effect(&self) -> Effect;

    /// Words for what is done, without the links.
    fn words(&self) -> String;

    /// What the links have carried since that they cannot have without the effect; the error says what is missing.
    fn evidence(&self, since: &Traffic) -> Result<String, &'static str>;
}

impl<K: LinkToxic> Kind for K {
    type State = Toxics;
    const NEEDS: &'static [Need] = &[Need::BuiltInProxy];

    async fn applicable(&self, _: &mut Toxics, site: Site<'_>) -> Result<String, FaultError> {
        let links = self.links().find(site).await?.join(", ");
        let streams = self.streams().words();
        Ok(format!("{links}: {}, {streams}", self.words()))
    }

    async fn inject(&self, toxics: &mut Toxics, site: Site<'_>) -> Result<(), FaultError> {
        for link in self.links().find(site).await? {
            for stream in self.streams().list() {
                toxics
                    .place(site, &link, *stream, self.effect(), None)
                    .await?;
            }
        }
        Ok(())
    }

    async fn receipt(&self, toxics: &mut Toxics, site: Site<'_>) -> Result<String, FaultError> {
        let since = toxics.traffic(site).await?;
        self.evidence(&since).map_err(FaultError::missing)
    }

    async fn heal(&self, toxics: &mut Toxics, site: Site<'_>) -> Result<(), FaultError> {
        toxics.remove(site).await
    }

    async fn is_healed(&self, toxics: &Toxics, site: Site<'_>) -> Result<(), FaultError> {
        toxics.are_gone(site).await
    }
}

/// `count` in words, or what is missing when there is none.
pub(crate) fn some(count: u64, words: &str, missing: &'static str) -> Result<String, &'static str> {
    if count == 0 {
        return Err(missing);
    }
    Ok(format!("{count} {words}"))
}
