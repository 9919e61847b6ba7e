//! A node of the service: its server, and the target's requests to it.

use std::sync::Arc;

use super::error::FaultError;
use super::site::Site;
use crate::environment::Server;
use crate::target::RequestTemplate;
use crate::target::call::call;

/// By number, from 0.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node(pub u64);

impl Node {
    /// # Errors
    /// No such node has been started.
    pub fn server(self, site: Site<'_>) -> Result<Arc<Server>, FaultError> {
        site.server(&format!("service-{}", self.0))
    }

    /// Sends one of the target's requests and returns the answer's body; `field` is its name in the target file,
    /// `extra` are its variables beside the stack's and the run's.
    ///
    /// # Errors
    /// The target has no such request; the node refuses it or does not answer.
    pub async fn ask(
        self,
        site: Site<'_>,
        field: &'static str,
        request: Option<&RequestTemplate>,
        extra: &[(&str, String)],
    ) -> Result<String, FaultError> {
        let request = request.ok_or(FaultError::NoField { field })?;
        let url = format!("http://127.0.0.1:{}", self.server(site)?.port());
        let answer = call(&url, request, &site.variables_and(extra)).await;
        answer.map_err(|source| FaultError::Call {
            node: self.0,
            source,
        })
    }
}
