//! Links whose other end is gone: connects hang, as on a host that lost its power.

use std::time::Duration;

use crate::faults::error::FaultError;
use crate::faults::kind::{Kind, Need, kind};
use crate::faults::links::Links;
use crate::faults::probe::{Silence, connect};
use crate::faults::site::Site;
use crate::faults::toxics::Toxics;
use crate::proxy::toxic::{Effect, Stream};

/// On loopback a connect takes microseconds.
const CONNECT_WITHIN: Duration = Duration::from_millis(500);

kind! {
    /// Makes connects to links hang, neither accepted nor refused; live connections are reset unless told otherwise.
    pub struct LinkUnreachable {
        /// Names of links; `*` stands for any text.
        pub links: Links,
        /// Whether live connections are reset, so that clients have to connect again.
        pub reset_live: bool = true,
    }
}

impl Kind for LinkUnreachable {
    type State = Toxics;
    const NEEDS: &'static [Need] = &[Need::BuiltInProxy];

    async fn applicable(&self, _: &mut Toxics, site: Site<'_>) -> Result<String, FaultError> {
        let links = self.links.find(site).await?.join(", ");
        let live = if self.reset_live {
            "reset"
        } else {
            "left alone"
        };
        Ok(format!("{links}: connects hang, live connections {live}"))
    }

    async fn inject(&self, toxics: &mut Toxics, site: Site<'_>) -> Result<(), FaultError> {
        for link in self.links.find(site).await? {
            let effect = Effect::Unreachable {};
            toxics
                .place(site, &link, Stream::Upstream, effect, None)
                .await?;
            if self.reset_live {
                site.stack.links.rst(&link).await?;
            }
        }
        Ok(())
    }

    async fn receipt(&self, toxics: &mut Toxics, site: Site<'_>) -> Result<String, FaultError> {
        for link in toxics.links() {
            match connect(site.listener(link).await?, CONNECT_WITHIN).await {
                Err(Silence::NoConnection(_)) => {}
                Err(silence) => return Err(FaultError::missing(format!("{link}: {silence}"))),
                Ok(_) => return Err(FaultError::missing(format!("{link} accepts"))),
            }
        }
        let reset = toxics.traffic(site).await?.connections_reset;
        let waited_ms = CONNECT_WITHIN.as_millis();
        Ok(format!(
            "{reset} live connections reset; a connect hangs for more than {waited_ms} ms"
        ))
    }

    async fn heal(&self, toxics: &mut Toxics, site: Site<'_>) -> Result<(), FaultError> {
        toxics.remove(site).await
    }

    async fn is_healed(&self, toxics: &Toxics, site: Site<'_>) -> Result<(), FaultError> {
        toxics.are_gone(site).await
    }
}
