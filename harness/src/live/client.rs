//! The asking side: `fault inject`, `fault heal`, `ps`.

use std::path::Path;
use std::time::Duration;

use reqwest::{Method, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::board::LiveFault;
use super::control::socket;

/// Heals wait for servers; a fault's own deadline is a minute.
const CALL_TIMEOUT: Duration = Duration::from_secs(90);

/// What came of asking a live stack.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    #[error("the stack does not answer: {0}")]
    Call(#[from] reqwest::Error),
    /// The request was wrong, in the keeper's words.
    #[error("{0}")]
    Refused(String),
}

/// Speaks to the keeper of one live stack.
#[derive(Debug)]
pub struct Client {
    http: reqwest::Client,
}

impl Client {
    /// The keeper whose scratch folder is `folder`; None: that run takes no orders.
    ///
    /// # Errors
    /// The client cannot be made.
    pub fn of(folder: &Path) -> Result<Option<Self>, ClientError> {
        let socket = socket(folder);
        if !socket.exists() {
            return Ok(None);
        }
        let builder = reqwest::Client::builder().unix_socket(socket);
        let http = builder.timeout(CALL_TIMEOUT).build()?;
        Ok(Some(Self { http }))
    }

    pub async fn faults(&self) -> Result<Vec<LiveFault>, ClientError> {
        self.call(Method::GET, "/faults", None).await
    }

    /// Injects; returns when there is a receipt or an error.
    pub async fn inject(&self, keys: &Value) -> Result<LiveFault, ClientError> {
        self.call(Method::POST, "/faults", Some(keys)).await
    }

    /// Heals one fault, all without a number; returns when they are healed.
    pub async fn heal(&self, id: Option<u32>) -> Result<Vec<LiveFault>, ClientError> {
        let path = id.map_or_else(|| "/faults".to_owned(), |id| format!("/faults/{id}"));
        self.call(Method::DELETE, &path, None).await
    }

    async fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<T, ClientError> {
        // The host is needed by the grammar only: the socket is the address.
        let mut request = self.http.request(method, format!("http://stack{path}"));
        if let Some(body) = body {
            request = request.json(body);
        }
        let answer = request.send().await?;
        if answer.status() == StatusCode::OK {
            return Ok(answer.json().await?);
        }
        Err(ClientError::Refused(answer.text().await?))
    }
}
