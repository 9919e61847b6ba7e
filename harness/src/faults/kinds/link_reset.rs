//! Links whose live connections end with a RST, once or every so often.

use std::time::Duration;

use tokio::task::JoinHandle;

use crate::faults::error::FaultError;
use crate::faults::kind::{Kind, Need, kind};
use crate::faults::links::Links;
use crate::faults::site::Site;
use crate::proxy::ProxyClient;

kind! {
    /// Ends live connections of links with a RST on both sides, once or every so often until healed.
    pub struct LinkReset {
        /// Names of links; `*` stands for any text.
        pub links: Links,
        /// Between two resets, ms; 0: only once.
        pub every_ms: u64 = 0,
    }
}

/// What has been reset, and who goes on with it.
#[derive(Debug, Default)]
pub(crate) struct Resets {
    links: Vec<String>,
    before: u64,
    again: Option<JoinHandle<()>>,
}

impl Drop for Resets {
    fn drop(&mut self) {
        if let Some(again) = self.again.take() {
            again.abort();
        }
    }
}

impl Kind for LinkReset {
    type State = Resets;
    const NEEDS: &'static [Need] = &[Need::BuiltInProxy];

    async fn applicable(&self, _: &mut Resets, site: Site<'_>) -> Result<String, FaultError> {
        let links = self.links.find(site).await?.join(", ");
        Ok(match self.every_ms {
            0 => format!("{links}: live connections reset"),
            every_ms => format!("{links}: live connections reset every {every_ms} ms"),
        })
    }

    async fn inject(&self, resets: &mut Resets, site: Site<'_>) -> Result<(), FaultError> {
        resets.links = self.links.find(site).await?;
        resets.before = count(&site.stack.links, &resets.links).await?;
        reset(&site.stack.links, &resets.links).await?;
        if self.every_ms > 0 {
            let every = Duration::from_millis(self.every_ms);
            let (proxy, links) = (site.stack.links.clone(), resets.links.clone());
            resets.again = Some(tokio::spawn(async move {
                loop {
                    tokio::time::sleep(every).await;
                    // The receipt counts what was reset; one call that failed is not worth a word.
                    let _ = reset(&proxy, &links).await;
                }
            }));
        }
        Ok(())
    }

    async fn receipt(&self, resets: &mut Resets, site: Site<'_>) -> Result<String, FaultError> {
        match count(&site.stack.links, &resets.links).await? - resets.before {
            0 => Err(FaultError::missing("no connection was live")),
            count => Ok(format!("{count} connections reset so far")),
        }
    }

    async fn heal(&self, resets: &mut Resets, _: Site<'_>) -> Result<(), FaultError> {
        if let Some(again) = resets.again.take() {
            again.abort();
        }
        Ok(())
    }
}

async fn reset(proxy: &ProxyClient, links: &[String]) -> Result<(), FaultError> {
    for link in links {
        proxy.rst(link).await?;
    }
    Ok(())
}

async fn count(proxy: &ProxyClient, links: &[String]) -> Result<u64, FaultError> {
    let mut count = 0;
    for link in links {
        count += proxy.traffic(link).await?.connections_reset;
    }
    Ok(count)
}
