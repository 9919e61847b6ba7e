//! Goose as a library: its users are our buyers. It writes no file and opens no port, and prints nothing
//! as long as the process has a logger (`flashdrill` has; otherwise Goose makes one for its warnings).

use std::sync::Arc;
use std::time::{Duration, Instant};

use goose::client::GooseClientBuilder;
use goose::config::GooseConfiguration;
use goose::goose::{GooseUser, Scenario, Transaction, TransactionFunction, TransactionResult};
use goose::metrics::GooseMetrics;
use goose::{GooseAttack, GooseError};

use super::JourneyError;
use super::shop::Shop;
use super::walk::journey;
use crate::load::endpoint::Endpoint;

/// Time for Goose to notice that its users are gone, and to add up.
const GOOSE_TIME: Duration = Duration::from_secs(3);
/// Goose forgets a word to stop that comes before it has started, so it is told again.
const TELL_EVERY: Duration = Duration::from_millis(50);
/// Goose sets its counts back when all its users are there. Nobody may send before.
const COUNTS_SET_BACK: Duration = Duration::from_millis(250);
/// Goose's users that come per second, without a request: the buyers hatch at the pace of the plan.
const GOOSE_HATCHES_PER_S: u32 = 20_000;
/// A buyer who came too late waits so long for Goose to send them home.
const IDLE: Duration = Duration::from_millis(100);

/// Keeps Goose from taking Ctrl-C for itself, which would leave us deaf to it. To be called before
/// anything else of the process listens to it: who comes later is called too.
pub fn leave_ctrl_c_alone() {
    // Fails only when somebody has it already, which serves the same end.
    let _ = ctrlc::set_handler(|| {});
}

/// Runs Goose until the load's schedule is over or Ctrl-C, and a little longer for the last answers.
///
/// # Errors
/// Goose fails, or does not end.
pub async fn attack(
    shop: &Arc<Shop>,
    endpoint: &Endpoint,
    timeout: Duration,
) -> Result<GooseMetrics, JourneyError> {
    let attack = prepare(shop, endpoint, client(timeout)?).map_err(of_goose)?;
    let patience = timeout + GOOSE_TIME;
    tokio::select! {
        ended = attack.execute() => ended.map_err(of_goose),
        () = send_home(shop, patience) => Err(JourneyError::NeverEnded { after: patience }),
    }
}

/// Tells Goose to end when it is time; returns when it had long enough for it.
async fn send_home(shop: &Shop, patience: Duration) {
    shop.clock.over().await;
    let over = Instant::now();
    while over.elapsed() < patience {
        goose::trigger_killswitch("the load has ended");
        tokio::time::sleep(TELL_EVERY).await;
    }
}

#[allow(clippy::needless_pass_by_value, reason = "for map_err")]
fn of_goose(error: GooseError) -> JourneyError {
    JourneyError::Goose(error.to_string())
}

/// Speaks to the service and to nobody else: neither a proxy of the environment nor a redirect may lead
/// the buyers off this machine. One pool of connections for all: who waits for an answer has one alone.
fn client(timeout: Duration) -> Result<reqwest::Client, JourneyError> {
    let client = reqwest::Client::builder()
        .timeout(timeout)
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .build()?;
    Ok(client)
}

fn prepare(
    shop: &Arc<Shop>,
    endpoint: &Endpoint,
    client: reqwest::Client,
) -> Result<GooseAttack, GooseError> {
    let scenario = Scenario::new("buyers")
        .register_transaction(Transaction::new(arrival(shop, endpoint, client)).set_on_start())
        .register_transaction(Transaction::new(round(shop)));
    // Never used, but Goose makes a client for each user unless all share one.
    let shared = GooseClientBuilder::new().without_cookies();
    GooseAttack::initialize_with_config(configuration(shop, endpoint)?)?
        .set_client_builder_without_cookies(shared)
        .map(|attack| attack.register_scenario(scenario))
}

fn configuration(shop: &Shop, endpoint: &Endpoint) -> Result<GooseConfiguration, GooseError> {
    let (host, users) = (
        format!("http://{}", endpoint.authority()),
        shop.journeys.users.to_string(),
    );
    GooseConfiguration::parse_args_default(&[
        "--host",
        &host,
        "--users",
        &users,
        "--increase-rate",
        &GOOSE_HATCHES_PER_S.to_string(),
        "--quiet",
        "--no-print-metrics",
        "--no-error-summary",
        // Whole journeys are ours to count: Goose's rounds hold those that came too late, too.
        "--no-transaction-metrics",
        "--no-scenario-metrics",
        "--no-telnet",
    ])
}

/// Journeys of one Goose user.
#[derive(Debug, Clone, Copy)]
struct Visits {
    next: u64,
}

/// A buyer comes when it is their turn, and stays at one node.
fn arrival(shop: &Arc<Shop>, endpoint: &Endpoint, client: reqwest::Client) -> TransactionFunction {
    let (shop, endpoint) = (Arc::clone(shop), endpoint.clone());
    Arc::new(move |user| {
        let (shop, client) = (Arc::clone(&shop), client.clone());
        let node = endpoint.address(user.weighted_users_index);
        Box::pin(async move {
            user.client = client;
            user.set_base_url(&format!("http://{node}"))?;
            user.set_session_data(Visits { next: 0 });
            let _ = shop.clock.sleep(COUNTS_SET_BACK).await;
            let _ = shop.clock.sleep_until(turn(&shop, user)).await;
            Ok(())
        })
    })
}

fn turn(shop: &Shop, user: &GooseUser) -> Duration {
    let before = user.weighted_users_index as f64 / shop.journeys.hatch_per_s;
    Duration::from_millis(shop.journeys.starts_at_ms) + Duration::from_secs_f64(before)
}

/// One journey and the pause after it.
fn round(shop: &Arc<Shop>) -> TransactionFunction {
    let shop = Arc::clone(shop);
    Arc::new(move |user| {
        let shop = Arc::clone(&shop);
        Box::pin(async move { go_round(&shop, user).await })
    })
}

async fn go_round(shop: &Shop, user: &mut GooseUser) -> TransactionResult {
    if shop.clock.is_over() {
        // Goose calls again at once until it has noticed.
        tokio::time::sleep(IDLE).await;
        return Ok(());
    }
    let buyer = user.weighted_users_index as u64;
    let visits = user.get_session_data_unchecked_mut::<Visits>();
    let purchase = shop.buyers.purchase(buyer, visits.next);
    visits.next += 1;
    journey(shop, user, purchase).await;
    let pause = Duration::from_millis(shop.journeys.think_ms);
    let _ = shop.clock.sleep(pause).await;
    Ok(())
}
