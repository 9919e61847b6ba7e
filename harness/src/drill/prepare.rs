//! The way to the start line: the service's nodes run, the sale is loaded and open, and it is known where to ask.

use std::path::Path;
use std::time::Duration;

use futures_util::future::{join_all, try_join_all};

use super::folder::RunFolder;
use super::plan::Plan;
use crate::environment::{EnvironmentError, RedisNode, Service, ServiceOptions, Stack};
use crate::faults::{Need, PlannedFault};
use crate::load::endpoint::Endpoint;
use crate::observe::alerts::AlertSink;
use crate::observe::{Endpoints, ObserveError, StoreReader};
use crate::target::call::{CallError, call, filled};
use crate::target::template::{UnknownVariable, Variables, fill};

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
    #[error("preparing the sale: {0}")]
    Call(#[from] CallError),
    #[error("plan: no node of the service takes buyers; at least one must")]
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
    /// Where the service's alerts arrive.
    pub alerts: AlertSink,
}

impl Prepared {
    /// Ends all nodes.
    pub async fn stop(&self) {
        join_all(self.services.iter().map(Service::stop)).await;
    }

    fn first(&self) -> Result<&Service, PrepareError> {
        self.services.first().ok_or(PrepareError::NoNode)
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
    let alerts = AlertSink::start().await?;
    let mut variables = variables(stack, plan, mutant, bin_dir);
    variables.insert("alert_url".to_owned(), alerts.url.clone());
    let nodes = (0..plan.service.len())
        .map(|node| start_node(stack, plan, mutant, node, &variables, folder));
    let services = try_join_all(nodes).await?;
    let roles = services.iter().zip(&plan.service);
    let open = roles.filter(|(_, role)| role.takes_buyers);
    let ports = open.map(|(service, _)| service.port);
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
        alerts,
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
    variables.insert("role".to_owned(), plan.service[node].name.clone());
    // Chosen when the node starts; the launcher fills it in.
    variables.insert("port".to_owned(), "{port}".to_owned());
    let options = ServiceOptions {
        node,
        command: command(plan, mutant)?
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

fn command<'p>(plan: &'p Plan, mutant: Option<&str>) -> Result<&'p [String], PrepareError> {
    let start = &plan.target.start;
    let needs_failpoints =
        |planned: &PlannedFault| planned.fault.about().needs.contains(&Need::Failpoints);
    match mutant {
        Some(mutant) if start.mutant_command.is_empty() => Err(PrepareError::NoMutants {
            mutant: mutant.to_owned(),
        }),
        Some(_) => Ok(&start.mutant_command),
        None if plan.faults.iter().any(needs_failpoints) => Ok(&start.failpoint_command),
        None => Ok(&start.command),
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

/// Sends the target's prepare requests to the first node; the service brings them to the others before it answers.
///
/// # Errors
/// The first request that is not answered with success.
pub async fn prepare_sale(prepared: &Prepared, plan: &Plan) -> Result<(), PrepareError> {
    let node = prepared.first()?;
    for step in &plan.target.start.prepare {
        if !step.per_sku {
            call(&node.base_url, &step.request, &prepared.variables).await?;
            continue;
        }
        for sku in &plan.sale.skus {
            let mut variables = prepared.variables.clone();
            variables.insert("sku".to_owned(), sku.id.clone());
            variables.insert("stock".to_owned(), sku.stock.to_string());
            call(&node.base_url, &step.request, &variables).await?;
        }
    }
    Ok(())
}

/// Sends the target's open request, if it has one.
///
/// # Errors
/// It is not answered with success.
pub async fn open_sale(prepared: &Prepared, plan: &Plan) -> Result<(), PrepareError> {
    if let Some(open) = &plan.target.start.open {
        call(&prepared.first()?.base_url, open, &prepared.variables).await?;
    }
    Ok(())
}
