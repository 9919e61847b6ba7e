//! Sends one of the target's requests to one node of the service.

use std::collections::BTreeMap;
use std::time::Duration;

use super::RequestTemplate;
use super::template::{UnknownVariable, Variables, fill};

/// A request may verify a whole sale; none of these is on the load path.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A request that was not answered with success.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    #[error("target file: {0}")]
    Template(#[from] UnknownVariable),
    #[error("target file: `{0}` is no HTTP method")]
    Method(String),
    #[error("request {method} {path}: no answer: {source}")]
    NoAnswer {
        method: String,
        path: String,
        source: reqwest::Error,
    },
    #[error(
        "request {method} {path}: answered {status}: {body}; see logs/service-*.log in the run folder"
    )]
    Refused {
        method: String,
        path: String,
        status: u16,
        body: String,
    },
}

impl CallError {
    /// The service has decided that it does not do it. One that could not decide may have done it, or do it later.
    pub fn is_refusal(&self) -> bool {
        /// Too slow, too early, too many.
        const UNDECIDED: [u16; 3] = [408, 425, 429];
        let Self::Refused { status, .. } = self else {
            return false;
        };
        (400..500).contains(status) && !UNDECIDED.contains(status)
    }
}

/// Fills `template` and sends it to the node at `base_url` (`http://host:port`); returns the answer's body.
///
/// # Errors
/// A template that cannot be filled, no answer, or one that is no success.
pub async fn call(
    base_url: &str,
    template: &RequestTemplate,
    variables: &Variables,
) -> Result<String, CallError> {
    let method = reqwest::Method::from_bytes(template.method.as_bytes())
        .map_err(|_| CallError::Method(template.method.clone()))?;
    let path = fill(&template.path, variables)?;
    let no_answer = |source| CallError::NoAnswer {
        method: template.method.clone(),
        path: path.clone(),
        source,
    };
    let client = reqwest::Client::builder().no_proxy().timeout(TIMEOUT);
    let client = client.build().map_err(&no_answer)?;
    let mut request = client.request(method, format!("{base_url}{path}"));
    for (name, value) in &filled(&template.headers, variables)? {
        request = request.header(name, value);
    }
    let request = request.body(fill(&template.body, variables)?);
    let answer = request.send().await.map_err(&no_answer)?;
    let status = answer.status();
    let body = answer.text().await.map_err(no_answer)?;
    if status.is_success() {
        return Ok(body);
    }
    Err(CallError::Refused {
        method: template.method.clone(),
        path,
        status: status.as_u16(),
        body,
    })
}

/// Fills every value.
///
/// # Errors
/// The first variable that `variables` lacks.
pub fn filled(
    templates: &BTreeMap<String, String>,
    variables: &Variables,
) -> Result<BTreeMap<String, String>, UnknownVariable> {
    templates
        .iter()
        .map(|(name, template)| Ok((name.clone(), fill(template, variables)?)))
        .collect()
}
