//! The system under test, known only by a target file: how to start it, ask it, and read its stores.
//!
//! Text fields are templates: `{name}` is replaced by a variable of the run (`{run}`, `{sale}`), in `start` of
//! the node that is started (`{node}`, `{role}`, `{port}`, `{mysql_url}`, `{mysql_node_url}`, `{redis_seeds}`,
//! `{alert_url}`, ...), or of one request (`{sku}`, `{user}`, `{quantity}`, `{request_id}`, `{order_id}`, `{address}`; `{challenge}` in the buy of a journey).
//! `{{` and `}}` are literal braces.

pub mod call;
pub mod file;
pub mod template;

use std::collections::BTreeMap;

use deserr::Deserr;
use serde::{Deserialize, Serialize};

use crate::drill::problems::Problems;

/// A resolved target file.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Deserr)]
#[deserr(deny_unknown_fields, error = Problems)]
pub struct Target {
    pub name: String,
    pub start: Start,
    pub requests: Requests,
    /// How an answer to a buy request maps to an outcome; the first rule that matches wins, and an
    /// answer that none matches is unknown.
    pub answers: Vec<AnswerRule>,
    /// JSON field of an accepted answer that holds the order id.
    pub order_id_field: String,
    /// JSON field of a status answer that holds the state of the order, by the names of
    /// `state.order_states`; any other name means that it is not decided yet.
    #[serde(default = "status_field")]
    #[deserr(default = status_field())]
    pub status_field: String,
    /// JSON field of a challenge answer whose value becomes `{challenge}`.
    #[serde(default)]
    #[deserr(default)]
    pub challenge_field: Option<String>,
    pub state: StateQueries,
    /// What it tells whoever is on call, by POST to `{alert_url}`; None: it sends no alerts.
    #[serde(default)]
    #[deserr(default)]
    pub alerts: Option<AlertFields>,
}

fn status_field() -> String {
    "state".to_owned()
}

/// JSON fields of an alert.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Deserr)]
#[deserr(deny_unknown_fields, error = Problems)]
pub struct AlertFields {
    /// Holds which alert it is.
    pub name_field: String,
    /// Holds what it is about: two alerts of one name about one thing are one told twice.
    #[serde(default)]
    #[deserr(default)]
    pub about_field: Option<String>,
}

/// How the service comes up. All parts are templates.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Deserr)]
#[deserr(deny_unknown_fields, error = Problems)]
pub struct Start {
    pub command: Vec<String>,
    /// Command of the build that holds the mutants; `{mutant}` names one.
    #[deserr(default)]
    pub mutant_command: Vec<String>,
    /// Command of the build whose failpoints and clock can be set; with a mutant it is `mutant_command`.
    #[serde(default)]
    #[deserr(default)]
    pub failpoint_command: Vec<String>,
    #[deserr(default)]
    pub env: BTreeMap<String, String>,
    /// Other ways to run the same service: by name, what their environment has besides.
    #[serde(default)]
    #[deserr(default)]
    pub variants: BTreeMap<String, BTreeMap<String, String>>,
    /// What a node may be started as; the first where a drill does not say. None: all nodes are alike.
    #[serde(default)]
    #[deserr(default)]
    pub roles: Vec<Role>,
    /// GET path that answers 200 when the service can sell.
    pub ready_path: String,
    pub ready_timeout_ms: u64,
    /// Requests that prepare the sale, in order; `per_sku` ones are sent once for each SKU.
    pub prepare: Vec<PrepareRequest>,
    /// Opens the sale, once it is prepared or `sale.opens_at_ms` into the load; without it the last prepare
    /// request opens it.
    #[deserr(default)]
    pub open: Option<RequestTemplate>,
    /// Adds `{units}` to what an open sale has of `{sku}`; under one `{top_up}` they are added once, however often it is
    /// sent. The answer is a success once buyers find the units; one of 4xx that nothing was added.
    #[serde(default)]
    #[deserr(default)]
    pub top_up: Option<RequestTemplate>,
    /// Sets what a node does at a place between two of its steps: `{failpoint}`, `{actions}` (`crash`, `1*crash`,
    /// `sleep(100)`, `off`).
    #[deserr(default)]
    pub failpoint: Option<RequestTemplate>,
    /// Sets a node's clock `{offset_ms}` ahead of the machine's; negative: behind. The JSON field `now_ms` of the
    /// answer is what the clock reads then (Unix time, ms).
    #[deserr(default)]
    pub clock: Option<RequestTemplate>,
}

/// What a node does for the service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Deserr)]
#[deserr(deny_unknown_fields, error = Problems)]
pub struct Role {
    /// Fills `{role}`.
    pub name: String,
    /// The load goes to it.
    #[deserr(default = true)]
    pub takes_buyers: bool,
}

impl Default for Role {
    /// Of a service that knows no roles.
    fn default() -> Self {
        Self {
            name: String::new(),
            takes_buyers: true,
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, Deserr)]
#[deserr(deny_unknown_fields, error = Problems)]
pub struct PrepareRequest {
    #[deserr(default)]
    pub per_sku: bool,
    pub request: RequestTemplate,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, Deserr)]
#[deserr(deny_unknown_fields, error = Problems)]
pub struct RequestTemplate {
    pub method: String,
    pub path: String,
    #[deserr(default)]
    pub headers: BTreeMap<String, String>,
    #[deserr(default)]
    pub body: String,
}

impl RequestTemplate {
    /// The target has no such request: nothing of it is written.
    pub fn is_absent(&self) -> bool {
        self.method.is_empty() && self.path.is_empty()
    }
}

/// The calls of a buyer. A drill whose buyers make one that the target lacks is refused.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Deserr)]
#[deserr(deny_unknown_fields, error = Problems)]
pub struct Requests {
    pub buy: RequestTemplate,
    #[deserr(default)]
    pub status: RequestTemplate,
    #[deserr(default)]
    pub pay: RequestTemplate,
    #[deserr(default)]
    pub cancel: RequestTemplate,
    /// What a journey asks before it buys; None: it buys at once. The open-loop load never asks it.
    #[serde(default)]
    #[deserr(default)]
    pub challenge: Option<RequestTemplate>,
}

/// One line of the mapping from HTTP answers to outcomes.
#[derive(Debug, Clone, Serialize, Deserialize, Deserr)]
#[deserr(deny_unknown_fields, error = Problems)]
pub struct AnswerRule {
    pub status: u16,
    /// Text the body must contain for the rule to apply; empty applies to any body.
    #[deserr(default)]
    pub contains: String,
    pub outcome: AnswerOutcome,
    /// Name of the refusal in the history and the report; empty for accepted answers.
    #[deserr(default)]
    pub reason: String,
    /// The refusal means an outage (paused, overloaded store), not a decision about this buyer;
    /// recovery time is measured by the last of these.
    #[deserr(default)]
    pub outage: bool,
    /// Another click of the same buyer may succeed; not said: as `outage`.
    #[deserr(default)]
    pub retryable: Option<bool>,
    /// The refusal means that the sale has not begun or is over, so that it is nobody's demand.
    #[deserr(default)]
    pub outside_sale: bool,
    /// The refusal says that nothing is left; it must not be said of anything else.
    #[serde(default)]
    #[deserr(default)]
    pub sold_out: bool,
}

impl AnswerRule {
    pub fn is_retryable(&self) -> bool {
        self.retryable.unwrap_or(self.outage)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Deserr)]
#[serde(rename_all = "snake_case")]
#[deserr(rename_all = lowercase, error = Problems)]
pub enum AnswerOutcome {
    Accepted,
    Refused,
    Unknown,
}

/// How to read what the stores hold. SQL and Redis commands are templates.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Deserr)]
#[deserr(deny_unknown_fields, error = Problems)]
pub struct StateQueries {
    /// SQL: order_id, request_id, user, sku, quantity, state, reason. One row an order; for the fault `mysql_deadlock` also
    /// with `FOR UPDATE` behind it.
    pub orders: String,
    /// SQL: sku, total, available. One row a SKU.
    pub stock: String,
    /// SQL: order_id of every order whose message nobody has received; none may be left at rest. Empty: not asked.
    #[serde(default)]
    #[deserr(default)]
    pub undelivered: String,
    /// SQL, per SKU: locks the row of the SKU's stock until the transaction ends (faults `mysql_lock_holder`, `mysql_deadlock`).
    #[serde(default)]
    #[deserr(default)]
    pub stock_lock: String,
    /// Rows that the store can be made to refuse (fault `mysql_poison`).
    #[serde(default)]
    #[deserr(default)]
    pub poison: Option<Poison>,
    /// SQL, per SKU: adds `{delta}` units to the stock, total and available alike (fault `mysql_stock_tamper`).
    #[serde(default)]
    #[deserr(default)]
    pub stock_add: String,
    /// Redis, per SKU: integer, units the cache would still sell. Empty: the target sells by its store alone.
    #[deserr(default)]
    pub cache_available: Vec<String>,
    /// Redis, per SKU: flat field/value list, user -> units held. Empty: the cache does not know who holds what.
    #[deserr(default)]
    pub cache_held: Vec<String>,
    /// Redis, per SKU: adds `{delta}` units to the cache's stock (fault `cache_stock_raise`).
    #[deserr(default)]
    pub cache_add: Vec<String>,
    /// Consumer group whose lag on the broker must be zero at rest. Empty: there is no queue.
    #[deserr(default)]
    pub consumer_group: String,
    /// Topic of that group.
    #[deserr(default)]
    pub topic: String,
    /// Longest time after which something may still come back by itself (a half message that the
    /// broker checks back): rest must last beyond it.
    #[deserr(default)]
    pub settle_horizon_ms: u64,
    /// State names of the orders query.
    pub order_states: BTreeMap<String, crate::history::final_state::OrderState>,
    /// `reason` values of rejected orders for which no stock had been promised (the reservation
    /// never happened); other rejections are broken promises.
    #[deserr(default)]
    pub never_granted_reasons: Vec<String>,
    /// A paid order may be cancelled (and the money given back).
    #[serde(default)]
    #[deserr(default)]
    pub paid_can_be_cancelled: bool,
    /// Prometheus path of the service, and counters worth keeping: name in the report -> metric.
    #[deserr(default)]
    pub metrics_path: String,
    #[deserr(default)]
    pub counters: BTreeMap<String, String>,
}

/// Rows of the store that a trigger refuses.
#[derive(Debug, Clone, Serialize, Deserialize, Deserr)]
#[deserr(deny_unknown_fields, error = Problems)]
pub struct Poison {
    /// Where orders are inserted.
    pub table: String,
    /// SQL over the row `NEW`: it is an order of one in `{one_in}` buyers. What must be stored of such an order when it is
    /// given up is not to be refused.
    pub when: String,
}

impl StateQueries {
    /// Orders go through a queue before they are in the store.
    pub fn has_queue(&self) -> bool {
        !self.topic.is_empty()
    }

    /// Units are sold by a cache before they are in the store.
    pub fn has_cache(&self) -> bool {
        !self.cache_available.is_empty()
    }
}
