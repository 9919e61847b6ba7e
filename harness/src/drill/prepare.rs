//! The way to the start line: the service's nodes run, the sale is loaded and open, and it is known where to ask.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use futures_util::future::{join_all, try_join_all};

use super::folder::RunFolder;
use super::plan::Plan;
use crate::environment::{EnvironmentError, RedisNode, Service, ServiceOptions, Stack};
use crate::load::endpoint::Endpoint;
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
        "prepare request {method} {path}: answered {status}: {body}; see logs/service-0.log in the run folder"
    )]
    Refused {
        method: String,
        path: String,
        status: u16,
        body: String,
    },
    #[error("target file: `{0}` is no HTTP method")]
    Method(String),
    #[error("plan: service_nodes is 0; it must be at least 1")]
    NoNode,
}

/// The service at the start line, and what templates need to speak of it.
pub struct Prepared {
    /// Its nodes, at least one, by number.
    pub services: Vec<Service>,
    /// Where buyers come in: the nodes in turn.
    pub entrance: Endpoint,
    /// The stack's and the run's.
    pub variables: Variables,
    pub endpoints: Endpoints,
}

impl Prepared {
    /// Ends all nodes.
    pub async fn stop(&self) {
        join_all(self.services.iter().map(Service::stop)).await;
    }
}

/// Starts the service's nodes, each with links of its own, and waits until all are ready.
///
/// # Errors
/// One cannot be started, or is not ready in time.
pub async fn start_services(
    stack: &Stack,
    plan: &Plan,
    mutant: Option<&str>,
    bin_dir: &Path,
    folder: &RunFolder,
) -> Result<Prepared, PrepareError> {
    let variables = variables(stack, plan, mutant, bin_dir);
    let nodes = (0..plan.service_nodes as usize)
        .map(|node| start_node(stack, plan, mutant, node, &variables, folder));
    let services = try_join_all(nodes).await?;
    let ports = services.iter().map(|service| service.port);
    let endpoints = Endpoints {
        mysql_url: stack.mysql.url(),
        redis_nodes: stack.redis.nodes.iter().map(RedisNode::address).collect(),
        service_urls: services.iter().map(|one| one.base_url.clone()).collect(),
    };
    Ok(Prepared {
        entrance: Endpoint::local_nodes(ports).ok_or(PrepareError::NoNode)?,
        services,
        variables,
        endpoints,
    })
}

async fn start_node(
    stack: &Stack,
    plan: &Plan,
    mutant: Option<&str>,
    node: usize,
    run: &Variables,
    folder: &RunFolder,
) -> Result<Service, PrepareError> {
    let start = &plan.target.start;
    let mut variables = run.clone();
    variables.extend(stack.service_variables(node).await?);
    // Chosen when the node starts; the launcher fills it in.
    variables.insert("port".to_owned(), "{port}".to_owned());
    let options = ServiceOptions {
        node,
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
        log_file: folder.logs().join(format!("service-{node}.log")),
    };
    Ok(Service::start(stack, &options).await?)
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
    let variables = &prepared.variables;
    let client = client()?;
    for step in &plan.target.start.prepare {
        if !step.per_sku {
            send(&client, prepared, &step.request, variables).await?;
            continue;
        }
        for sku in &plan.sale.skus {
            let mut variables = variables.clone();
            variables.insert("sku".to_owned(), sku.id.clone());
            variables.insert("stock".to_owned(), sku.stock.to_string());
            send(&client, prepared, &step.request, &variables).await?;
        }
    }
    Ok(())
}

/// Sends the target's open request, if it has one.
///
/// # Errors
/// It is not answered with success.
pub async fn open_sale(prepared: &Prepared, plan: &Plan) -> Result<(), PrepareError> {
    match &plan.target.start.open {
        Some(open) => send(&client()?, prepared, open, &prepared.variables).await,
        None => Ok(()),
    }
}

fn client() -> Result<reqwest::Client, PrepareError> {
    reqwest::Client::builder()
        .timeout(PREPARE_TIMEOUT)
        .build()
        .map_err(|source| no_answer("(client)", "", source))
}

/// To the first node; the service brings it to the others before it answers.
async fn send(
    client: &reqwest::Client,
    prepared: &Prepared,
    template: &RequestTemplate,
    variables: &Variables,
) -> Result<(), PrepareError> {
    let method = reqwest::Method::from_bytes(template.method.as_bytes())
        .map_err(|_| PrepareError::Method(template.method.clone()))?;
    let path = fill(&template.path, variables)?;
    let node = prepared.services.first().ok_or(PrepareError::NoNode)?;
    let mut request = client.request(method.clone(), format!("{}{path}", node.base_url));
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
