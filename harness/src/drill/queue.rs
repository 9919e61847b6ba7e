//! The queue of a run, as far as it can be waited for.

use std::sync::Arc;

use super::plan::Plan;
use super::prepare::Prepared;
use crate::environment::Stack;
use crate::target::template::{UnknownVariable, fill};

/// Asks the broker past every fault proxy.
#[derive(Clone)]
pub struct Queue {
    stack: Arc<Stack>,
    /// Topic and consumer group; None: the target has no queue.
    names: Option<(String, String)>,
}

impl Queue {
    /// # Errors
    /// The target names it by a variable that does not exist.
    pub fn new(
        stack: &Arc<Stack>,
        plan: &Plan,
        prepared: &Prepared,
    ) -> Result<Self, UnknownVariable> {
        let filled = |template: &str| fill(template, &prepared.variables);
        let state = &plan.target.state;
        let names = match state.has_queue() {
            true => Some((filled(&state.topic)?, filled(&state.consumer_group)?)),
            false => None,
        };
        Ok(Self {
            stack: Arc::clone(stack),
            names,
        })
    }

    /// Messages committed and not consumed. Where there is no queue, nothing waits in it.
    ///
    /// # Errors
    /// In words: the broker does not answer.
    pub async fn backlog(&self) -> Result<u64, String> {
        let Some((topic, group)) = &self.names else {
            return Ok(0);
        };
        let backlog = self.stack.rocketmq.backlog(topic, group).await;
        backlog.map_err(|error| error.to_string())
    }
}
