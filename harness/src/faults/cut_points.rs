//! A cut point of the built-in proxy, placed on links for as long as a fault lasts.

use super::error::FaultError;
use super::links::Links;
use super::site::Site;
use crate::proxy::ProxyError;
use crate::proxy::cut::Cut;

/// Where it was placed. Nowhere by default.
#[derive(Debug, Default)]
pub(crate) struct CutPoints(Vec<(String, String)>);

impl CutPoints {
    /// Places the cut on each of the links. What is placed is remembered before it is: a heal finds it.
    pub async fn place(
        &mut self,
        site: Site<'_>,
        links: Vec<String>,
        cut: &Cut,
    ) -> Result<(), FaultError> {
        for link in links {
            self.0.push((link.clone(), cut.name.clone()));
            site.stack.links.add_cut(&link, cut).await?;
        }
        Ok(())
    }

    /// How often it was carried out, over all links.
    pub async fn fired(&self, site: Site<'_>) -> Result<u64, FaultError> {
        let mut fired = 0;
        for (link, name) in &self.0 {
            fired += site.stack.links.cut(link, name).await?.fired;
        }
        Ok(fired)
    }

    /// Repeating it changes nothing.
    pub async fn remove(&self, site: Site<'_>) -> Result<(), FaultError> {
        for (link, name) in &self.0 {
            match site.stack.links.remove_cut(link, name).await {
                Ok(()) | Err(ProxyError::Answer { status: 404, .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// No link has it any more.
    pub async fn are_gone(&self, site: Site<'_>) -> Result<(), FaultError> {
        for (link, name) in &self.0 {
            let mut cuts = site.stack.links.cuts(link).await?.into_iter();
            if cuts.any(|view| view.cut.name == *name) {
                let missing = format!("the cut point {name} is still on {link}");
                return Err(FaultError::missing(missing));
            }
        }
        Ok(())
    }
}

/// Every service node's way to a server, or to several: `mysql`, `redis-*`.
///
/// # Errors
/// The proxy does not answer, or no service has links.
pub(super) async fn service_links(site: Site<'_>, server: &str) -> Result<Vec<String>, FaultError> {
    let pattern = format!("service-*-{server}");
    let links = Links::new(vec![pattern]).expect("one pattern is not none");
    links.find(site).await
}
