//! The way to the start line: the service runs, the sale is loaded and open, and it is known where to ask.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use super::folder::RunFolder;
use super::plan::Plan;
use crate::environment::{EnvironmentError, RedisNode, Service, ServiceOptions, Stack};
use crate::observe::{Endpoints, ObserveError, StoreReader};
use crate::target::template::{UnknownVariable, Variables, fill};
use crate::target::{RequestTemplate, Start};

/// A prepare request may verify the whole sale; it is not on the load path.
const PREPARE_TIMEOUT: Duration = Duration::from_secs(30);
/// One query, command or request of a reading.
const READ_TIMEOUT: Duration = Duration::from_secs(5);

/// The service could not be brought to the start line.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    #[error("target file: {0}")]
    Template(#[from] UnknownVariable),
    #[error("target file: it has no mutant_command, so mutant {mutant} cannot be started")]
    NoMutants { mutant: String },
    #[error(transparent)]
    Observe(#[from] ObserveError),
    #[error("prepare request {method} {path}: no answer: {source}")]
    NoAnswer {
        method: String,
        path: String,
        source: reqwest::Error,
    },
    #[error(
        "prepare request {method} {path}: answered {status}: {body}; see logs/service.log in the run folder"
    )]
    Refused {
        method: String,
        path: String,
        status: u16,
        body: String,
    },
    #[error("target file: `{0}` is no HTTP method")]
    Method(String),
}

/// The service at the start line, and what templates need to speak of it.
pub struct Prepared {
    pub service: Service,
    /// The stack's, the run's and the service's.
    pub variables: Variables,
    pub endpoints: Endpoints,
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
) -> Result<Prepared, PrepareError> {
    let start = &plan.target.start;
    let mut variables = variables(stack, plan, mutant, bin_dir);
    let options = ServiceOptions {
        command: command(start, mutant)?
            .iter()
            .map(|part| fill(part, &variables))
            .collect::<Result<_, _>>()?,
        env: filled(&start.env, &variables)?,
        ready_url: format!(
            "http://127.0.0.1:{{port}}{}",
            fill(&start.ready_path, &variables)?
        ),
        ready_timeout: Duration::from_millis(start.ready_timeout_ms),
        log_file: folder.logs().join("service.log"),
    };
    let service = Service::start(stack, &options).await?;
    variables.insert("port".to_owned(), service.port.to_string());
    let endpoints = Endpoints {
        mysql_url: stack.mysql.url(),
        redis_nodes: stack.redis.nodes.iter().map(RedisNode::address).collect(),
        service_url: service.base_url.clone(),
    };
    Ok(Prepared {
        service,
        variables,
        endpoints,
    })
}

fn command<'s>(start: &'s Start, mutant: Option<&str>) -> Result<&'s [String], PrepareError> {
    match mutant {
        None => Ok(&start.command),
        Some(mutant) if start.mutant_command.is_empty() => Err(PrepareError::NoMutants {
            mutant: mutant.to_owned(),
        }),
        Some(_) => Ok(&start.mutant_command),
    }
}

fn variables(stack: &Stack, plan: &Plan, mutant: Option<&str>, bin_dir: &Path) -> Variables {
    let mut variables = stack.variables();
    for (name, value) in [
        ("bin_dir", bin_dir.display().to_string()),
        ("run", plan.sale.id.clone()),
        ("sale", plan.sale.id.clone()),
        // Chosen when the service starts; the launcher fills it in.
        ("port", "{port}".to_owned()),
        ("mutant", mutant.unwrap_or_default().to_owned()),
        ("limit_per_user", plan.sale.limit_per_user.to_string()),
    ] {
        variables.insert(name.to_owned(), value);
    }
    variables
}

/// A reader of the stores by the target's queries, past the proxy.
///
/// # Errors
/// A query names a variable that does not exist.
pub fn store_reader(prepared: &Prepared, plan: &Plan) -> Result<StoreReader, PrepareError> {
    let reader = StoreReader::new(plan, &prepared.variables, &prepared.endpoints, READ_TIMEOUT)?;
    Ok(reader)
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

/// Sends the target's prepare requests.
///
/// # Errors
/// The first request that is not answered with success.
pub async fn prepare_sale(prepared: &Prepared, plan: &Plan) -> Result<(), PrepareError> {
    let (service, variables) = (&prepared.service, &prepared.variables);
    let client = client()?;
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

/// Sends the target's open request, if it has one.
///
/// # Errors
/// It is not answered with success.
pub async fn open_sale(prepared: &Prepared, plan: &Plan) -> Result<(), PrepareError> {
    let (service, variables) = (&prepared.service, &prepared.variables);
    match &plan.target.start.open {
        Some(open) => send(&client()?, service, open, variables).await,
        None => Ok(()),
    }
}

fn client() -> Result<reqwest::Client, PrepareError> {
    reqwest::Client::builder()
        .timeout(PREPARE_TIMEOUT)
        .build()
        .map_err(|source| no_answer("(client)", "", source))
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
    let mut request = client.request(method.clone(), format!("{}{path}", service.base_url));
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
    Err(PrepareError::Refused {
        method: method.to_string(),
        path,
        status: status.as_u16(),
        body,
    })
}

fn no_answer(method: &str, path: &str, source: reqwest::Error) -> PrepareError {
    PrepareError::NoAnswer {
        method: method.to_owned(),
        path: path.to_owned(),
        source,
    }
}
