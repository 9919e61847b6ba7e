//! Links on which the end of a connection comes late.

use std::time::Duration;

use crate::drill::range::Count;
use crate::faults::error::FaultError;
use crate::faults::kind::{Kind, Need, kind};
use crate::faults::links::Links;
use crate::faults::probe::closing_time;
use crate::faults::site::Site;
use crate::faults::toxics::Toxics;
use crate::proxy::toxic::{Effect, Stream};

/// Beyond the delay, on a busy machine.
const SPARE: Duration = Duration::from_secs(1);

kind! {
    /// Lets the end of connections reach the client late.
    pub struct LinkSlowClose {
        /// Names of links; `*` stands for any text.
        pub links: Links,
        /// How late, ms.
        pub delay_ms: Count,
    }
}

impl LinkSlowClose {
    fn delay(&self) -> Duration {
        Duration::from_millis(self.delay_ms.get().into())
    }
}

impl Kind for LinkSlowClose {
    type State = Toxics;
    const NEEDS: &'static [Need] = &[Need::BuiltInProxy];

    async fn applicable(&self, _: &mut Toxics, site: Site<'_>) -> Result<String, FaultError> {
        let links = self.links.find(site).await?.join(", ");
        Ok(format!(
            "{links}: ends come {} ms late",
            self.delay_ms.get()
        ))
    }

    async fn inject(&self, toxics: &mut Toxics, site: Site<'_>) -> Result<(), FaultError> {
        for link in self.links.find(site).await? {
            let effect = Effect::SlowClose {
                delay: self.delay_ms.get().into(),
            };
            toxics
                .place(site, &link, Stream::Downstream, effect, None)
                .await?;
        }
        Ok(())
    }

    /// A connection of our own is closed by the server at once, and through the link so much later.
    async fn receipt(&self, toxics: &mut Toxics, site: Site<'_>) -> Result<String, FaultError> {
        let mut least = None;
        for link in toxics.links() {
            let within = self.delay() + SPARE;
            let (through, direct) = tokio::join!(
                closing_time(site.listener(link).await?, within),
                closing_time(site.upstream(link).await?, within),
            );
            let unclosed = |silence| FaultError::missing(format!("{link}: {silence}"));
            let late = through
                .map_err(unclosed)?
                .saturating_sub(direct.map_err(unclosed)?);
            if late < self.delay().mul_f64(0.9) {
                let late_ms = late.as_millis();
                return Err(FaultError::missing(format!(
                    "{link} closes {late_ms} ms late only"
                )));
            }
            least = Some(least.map_or(late, |least: Duration| least.min(late)));
        }
        let late_ms = least.unwrap_or_default().as_millis();
        Ok(format!(
            "a close came {late_ms} ms later than from the server itself"
        ))
    }

    async fn heal(&self, toxics: &mut Toxics, site: Site<'_>) -> Result<(), FaultError> {
        toxics.remove(site).await
    }

    async fn is_healed(&self, toxics: &Toxics, site: Site<'_>) -> Result<(), FaultError> {
        toxics.are_gone(site).await
    }
}
