//! The way to the start line: the service runs, the sale is loaded and open, and it is known where to ask.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use super::folder::RunFolder;
use super::plan::Plan;
use crate::environment::service::{Launch, Service};
use crate::environment::{EnvironmentError, Stack, ports};
use crate::target::RequestTemplate;
use crate::target::template::{UnknownVariable, Variables, fill};

/// A prepare request may verify the whole sale; it is not on the load path.
const PREPARE_TIMEOUT: Duration = Duration::from_secs(30);

/// The service could not be brought to the start line.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    #[error("target file: {0}")]
    Template(#[from] UnknownVariable),
    #[error("target file: it has no mutant_command, so mutant {mutant} cannot be started")]
    NoMutants { mutant: String },
    #[error("prepare request {method} {path}: no answer: {source}")]
    NoAnswer { method: String, path: String, source: reqwest::Error },
    #[error("prepare request {method} {path}: answered {status}: {body}; see logs/service.log in the run folder")]
    Refused { method: String, path: String, status: u16, body: String },
    #[error("target file: `{0}` is no HTTP method")]
    Method(String),
}

/// Starts the service with the stack's addresses and waits until it is ready.
///
/// # Errors
/// It cannot be started, or is not ready in time.
pub async fn start_service(
    stack: &Stack,
    plan: &Plan,
    mutant: Option<&str>,
    bin_dir: &Path,
    folder: &RunFolder,
) -> Result<(Service, Variables), PrepareError> {
    let start = &plan.target.start;
    let port = ports::free()?;
    let variables = variables(stack, plan, mutant, bin_dir, port);
    let command = match mutant {
        None => &start.command,
        Some(mutant) if start.mutant_command.is_empty() => {
            return Err(PrepareError::NoMutants { mutant: mutant.to_owned() });
        }
        Some(_) => &start.mutant_command,
    };
    let launch = Launch {
        command: command.iter().map(|part| fill(part, &variables)).collect::<Result<_, _>>()?,
        env: filled(&start.env, &variables)?,
        address: SocketAddr::from(([127, 0, 0, 1], port)),
        ready_path: fill(&start.ready_path, &variables)?,
        ready_timeout: Duration::from_millis(start.ready_timeout_ms),
        log: folder.logs().join("service.log"),
    };
    Ok((Service::start(stack, launch).await?, variables))
}

fn variables(
    stack: &Stack,
    plan: &Plan,
    mutant: Option<&str>,
    bin_dir: &Path,
    port: u16,
) -> Variables {
    let mut variables = stack.variables();
    for (name, value) in [
        ("bin_dir", bin_dir.display().to_string()),
        ("run", plan.sale.id.clone()),
        ("sale", plan.sale.id.clone()),
        ("port", port.to_string()),
        ("mutant", mutant.unwrap_or_default().to_owned()),
        ("limit_per_user", plan.sale.limit_per_user.to_string()),
    ] {
        variables.insert(name.to_owned(), value);
    }
    variables
}

fn filled(
    templates: &BTreeMap<String, String>,
    variables: &Variables,
) -> Result<BTreeMap<String, String>, UnknownVariable> {
    templates
        .iter()
        .map(|(name, template)| Ok((name.clone(), fill(template, variables)?)))
        .collect()
}

/// Sends the target's prepare requests: after the last the sale is open.
///
/// # Errors
/// The first request that is not answered with success.
pub async fn open_sale(
    service: &Service,
    plan: &Plan,
    variables: &Variables,
) -> Result<(), PrepareError> {
    let client = reqwest::Client::builder()
        .timeout(PREPARE_TIMEOUT)
        .build()
        .map_err(|source| no_answer("(client)", "", source))?;
    for step in &plan.target.start.prepare {
        if !step.per_sku {
            send(&client, service, &step.request, variables).await?;
            continue;
        }
        for sku in &plan.sale.skus {
            let mut variables = variables.clone();
            variables.insert("sku".to_owned(), sku.id.clone());
            variables.insert("stock".to_owned(), sku.stock.to_string());
            send(&client, service, &step.request, &variables).await?;
        }
    }
    Ok(())
}

async fn send(
    client: &reqwest::Client,
    service: &Service,
    template: &RequestTemplate,
    variables: &Variables,
) -> Result<(), PrepareError> {
    let method = reqwest::Method::from_bytes(template.method.as_bytes())
        .map_err(|_| PrepareError::Method(template.method.clone()))?;
    let path = fill(&template.path, variables)?;
    let mut request = client.request(method.clone(), format!("{}{path}", service.base_url()));
    for (name, value) in &filled(&template.headers, variables)? {
        request = request.header(name, value);
    }
    let answer = request
        .body(fill(&template.body, variables)?)
        .send()
        .await
        .map_err(|source| no_answer(method.as_str(), &path, source))?;
    let status = answer.status();
    if status.is_success() {
        return Ok(());
    }
    let body = answer.text().await.unwrap_or_default();
    Err(PrepareError::Refused { method: method.to_string(), path, status: status.as_u16(), body })
}

fn no_answer(method: &str, path: &str, source: reqwest::Error) -> PrepareError {
    PrepareError::NoAnswer { method: method.to_owned(), path: path.to_owned(), source }
}
