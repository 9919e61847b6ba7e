//! A node of the system under test as a child process of the stack.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::error::EnvironmentError;
use super::ports::free_port;
use super::readiness::wait_until;
use super::server::{Program, Server, ServerSpec};
use super::stack::Stack;

/// Time a service has to end by itself.
const STOP_GRACE: Duration = Duration::from_secs(3);

/// How to start it. `{port}` in the command, the environment and the URL is replaced by a free
/// port; everything else must be filled in already.
#[derive(Debug, Clone)]
pub struct ServiceOptions {
    /// Its number among the nodes, from 0.
    pub node: usize,
    /// Program and arguments; a program without a slash is looked up on the PATH.
    pub command: Vec<String>,
    pub env: BTreeMap<String, String>,
    /// Answers 200 to GET when the service can sell.
    pub ready_url: String,
    pub ready_timeout: Duration,
    pub log_file: PathBuf,
}

#[derive(Debug)]
pub struct Service {
    pub node: usize,
    pub server: Arc<Server>,
    pub pid: u32,
    /// Scheme, host and port of the ready URL.
    pub base_url: String,
    pub port: u16,
}

impl Service {
    /// Starts the service and waits until it is ready.
    ///
    /// # Errors
    /// A command that cannot be run, a service that dies or is not ready in time: with the end of
    /// its log.
    pub async fn start(stack: &Stack, options: &ServiceOptions) -> Result<Self, EnvironmentError> {
        if !options.ready_url.contains("{port}") {
            return Self::start_once(stack, options).await;
        }
        super::with_fresh_ports(|| Self::start_once(stack, options)).await
    }

    async fn start_once(stack: &Stack, options: &ServiceOptions) -> Result<Self, EnvironmentError> {
        let port = free_port()?;
        let ready_url = options.ready_url.replace("{port}", &port.to_string());
        let (base_url, port) = parts(&ready_url)?;
        let server = Server::start(stack.launcher(), spec(options, port)?).await?;
        wait_ready(&server, &ready_url, options.ready_timeout).await?;
        stack.adopt(options.node, &base_url, &server);
        let pid = server.pid().unwrap_or_default();
        Ok(Self {
            node: options.node,
            server,
            pid,
            base_url,
            port,
        })
    }

    pub fn is_alive(&self) -> bool {
        self.server.is_alive()
    }

    /// SIGTERM, and SIGKILL when that is not enough.
    pub async fn stop(&self) {
        self.server.terminate(STOP_GRACE).await;
    }
}

fn spec(options: &ServiceOptions, port: u16) -> Result<ServerSpec, EnvironmentError> {
    let fill = |text: &String| text.replace("{port}", &port.to_string());
    let mut command = options.command.iter().map(fill);
    let program = command
        .next()
        .ok_or_else(|| bad("command", "it is empty"))?;
    Ok(ServerSpec {
        component: format!("service-{}", options.node),
        program: Program::Path(program.into()),
        args: command.collect(),
        env: options
            .env
            .iter()
            .map(|(name, value)| (name.clone(), fill(value)))
            .collect(),
        // Relative paths of a target file are meant from where flashdrill was started.
        dir: std::env::current_dir().map_err(|e| bad("working folder", e))?,
        log: options.log_file.clone(),
        port,
    })
}

async fn wait_ready(server: &Server, url: &str, limit: Duration) -> Result<(), EnvironmentError> {
    let http = reqwest::Client::new();
    wait_until(server, limit, || get(&http, url)).await
}

async fn get(http: &reqwest::Client, url: &str) -> Result<(), String> {
    match http.get(url).send().await {
        Ok(answer) if answer.status().as_u16() == 200 => Ok(()),
        Ok(answer) => Err(format!("GET {url} answered {}", answer.status())),
        Err(error) => Err(format!("GET {url}: {error}")),
    }
}

/// Base URL and port of `http://127.0.0.1:8080/readyz`.
fn parts(url: &str) -> Result<(String, u16), EnvironmentError> {
    let parsed = reqwest::Url::parse(url).map_err(|e| bad(url, e))?;
    match (parsed.host_str(), parsed.port_or_known_default()) {
        (Some(host), Some(port)) => Ok((format!("{}://{host}:{port}", parsed.scheme()), port)),
        _ => Err(bad(url, "it names no host and port")),
    }
}

fn bad(what: &str, reason: impl std::fmt::Display) -> EnvironmentError {
    EnvironmentError::step("service", &format!("reading the {what}"), reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_the_base_url_from_the_ready_url() {
        let found = parts("http://127.0.0.1:8080/readyz").unwrap();
        assert_eq!(found, ("http://127.0.0.1:8080".to_owned(), 8080));
        assert!(parts("readyz").is_err());
    }
}
