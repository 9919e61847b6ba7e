//! Links that refuse: nobody listens there.

use std::time::Duration;

use crate::faults::error::FaultError;
use crate::faults::kind::{Kind, kind};
use crate::faults::links::Links;
use crate::faults::probe::{Silence, connect};
use crate::faults::site::Site;

/// Refusal comes at once.
const REFUSED_WITHIN: Duration = Duration::from_secs(1);

kind! {
    /// Takes links down: live connections are closed, new ones refused.
    pub struct LinkDown {
        /// Names of links; `*` stands for any text.
        pub links: Links,
    }
}

/// The links that this fault has taken down.
pub(crate) type Down = Vec<String>;

impl Kind for LinkDown {
    type State = Down;

    async fn applicable(&self, _: &mut Down, site: Site<'_>) -> Result<String, FaultError> {
        let names = self.links.find(site).await?;
        let there_are = site.stack.links.proxies().await?;
        // A second one would bring up what the first still wants down.
        if let Some(link) = names.iter().find(|name| !there_are[*name].enabled) {
            return Err(FaultError::missing(format!("{link} is down already")));
        }
        Ok(format!(
            "{}: connections closed and refused",
            names.join(", ")
        ))
    }

    async fn inject(&self, down: &mut Down, site: Site<'_>) -> Result<(), FaultError> {
        for link in self.links.find(site).await? {
            down.push(link.clone());
            site.stack.links.set_enabled(&link, false).await?;
        }
        Ok(())
    }

    async fn receipt(&self, down: &mut Down, site: Site<'_>) -> Result<String, FaultError> {
        for link in down.iter() {
            match connect(site.listener(link).await?, REFUSED_WITHIN).await {
                Err(Silence::Refused) => {}
                other => {
                    let answer = other
                        .map_or_else(|silence| silence.to_string(), |_| "a connection".to_owned());
                    return Err(FaultError::missing(format!(
                        "{link} does not refuse: {answer}"
                    )));
                }
            }
        }
        Ok(format!("a connect is refused on {}", down.join(", ")))
    }

    async fn heal(&self, down: &mut Down, site: Site<'_>) -> Result<(), FaultError> {
        for link in down.iter() {
            site.stack.links.set_enabled(link, true).await?;
        }
        Ok(())
    }

    async fn is_healed(&self, down: &Down, site: Site<'_>) -> Result<(), FaultError> {
        for link in down {
            let connected = connect(site.listener(link).await?, REFUSED_WITHIN).await;
            connected.map_err(|silence| FaultError::missing(format!("{link}: {silence}")))?;
        }
        Ok(())
    }
}
