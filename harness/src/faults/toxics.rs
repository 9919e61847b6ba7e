//! Toxics under names of their own, so that faults on the same link neither meet nor heal each other.

use std::net::IpAddr;

use super::error::FaultError;
use super::site::Site;
use crate::proxy::ProxyError;
use crate::proxy::toxic::{Effect, Stream, Toxic};
use crate::proxy::traffic::Traffic;

/// What one fault has put on links, and what those had carried before.
#[derive(Debug, Default)]
pub(crate) struct Toxics {
    /// Link and name.
    placed: Vec<(String, String)>,
    before: Vec<(String, Traffic)>,
}

impl Toxics {
    /// The links that they are on.
    pub fn links(&self) -> impl Iterator<Item = &str> {
        self.before.iter().map(|(link, _)| link.as_str())
    }

    /// Puts `effect` on one direction of a link; `from` limits it to clients of that address.
    pub async fn place(
        &mut self,
        site: Site<'_>,
        link: &str,
        stream: Stream,
        effect: Effect,
        from: Option<IpAddr>,
    ) -> Result<(), FaultError> {
        let links = &site.stack.links;
        if self.before.iter().all(|(watched, _)| watched != link) {
            let traffic = counted(site, link).await?;
            self.before.push((link.to_owned(), traffic));
        }
        let mut toxic = Toxic::new(stream, effect);
        toxic.from = from;
        let default = toxic.name.clone();
        for number in 1.. {
            toxic.name = format!("{default}-{number}");
            // Noted before it is there: an answer that is lost must not leave it behind.
            self.placed.push((link.to_owned(), toxic.name.clone()));
            match links.add_toxic(link, &toxic).await {
                Ok(()) => break,
                Err(ProxyError::Answer { status: 409, .. }) => self.placed.pop(),
                Err(error) => return Err(error.into()),
            };
        }
        Ok(())
    }

    /// Swallows both directions of a link.
    pub async fn black_hole(&mut self, site: Site<'_>, link: &str) -> Result<(), FaultError> {
        for stream in Stream::BOTH {
            let effect = Effect::Timeout { timeout: 0 };
            self.place(site, link, stream, effect, None).await?;
        }
        Ok(())
    }

    /// What the links have carried since, all together; nothing where the proxy does not count.
    pub async fn traffic(&self, site: Site<'_>) -> Result<Traffic, FaultError> {
        let mut since = Traffic::default();
        for (link, before) in &self.before {
            since = since + (counted(site, link).await? - *before);
        }
        Ok(since)
    }

    /// Removes them; those that are gone already are no error.
    pub async fn remove(&self, site: Site<'_>) -> Result<(), FaultError> {
        for (link, toxic) in &self.placed {
            match site.stack.links.remove_toxic(link, toxic).await {
                Ok(()) | Err(ProxyError::Answer { status: 404, .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// The proxy has none of them any more.
    pub async fn are_gone(&self, site: Site<'_>) -> Result<(), FaultError> {
        for (link, toxic) in &self.placed {
            let there_are = site.stack.links.toxics(link).await?;
            if there_are.iter().any(|one| one.name == *toxic) {
                return Err(FaultError::missing(format!("{toxic} is still on {link}")));
            }
        }
        Ok(())
    }
}

/// Toxiproxy does not count.
async fn counted(site: Site<'_>, link: &str) -> Result<Traffic, FaultError> {
    match site.stack.links.traffic(link).await {
        Ok(traffic) => Ok(traffic),
        Err(ProxyError::Answer { status: 404, .. }) => Ok(Traffic::default()),
        Err(error) => Err(error.into()),
    }
}
