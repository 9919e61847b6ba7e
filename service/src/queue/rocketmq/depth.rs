//! How far the topic's queues are filled, and how far the group has applied them, as the brokers say: whoever
//! consumes, on whatever node.

use serde_json::{Map, Value};
use tokio::sync::OnceCell;

use super::remoting::{Request, call};
use super::{QueueError, admin};
use crate::queue::{Progress, QueueSettings};

/// `RequestCode.java`
const GET_CONSUME_STATS: i64 = 208;

/// Asks for one topic and group.
pub struct Depth {
    namesrv: String,
    topic: String,
    group: String,
    /// Looked up once: their addresses stay.
    brokers: OnceCell<Vec<String>>,
}

impl Depth {
    #[must_use]
    pub fn new(settings: &QueueSettings) -> Self {
        Self {
            namesrv: settings.namesrv.clone(),
            topic: settings.topic.clone(),
            group: settings.group.clone(),
            brokers: OnceCell::new(),
        }
    }

    /// Messages still half, between reservation and commit, are not among them.
    ///
    /// # Errors
    /// A broker does not answer, or does not know the group's queues.
    pub async fn read(&self) -> Result<Progress, QueueError> {
        let look_up = || admin::brokers(&self.namesrv);
        let mut queues = Vec::new();
        for broker in self.brokers.get_or_try_init(look_up).await? {
            let request = Request {
                code: GET_CONSUME_STATS,
                name: "the group's offsets",
                fields: self.fields(),
            };
            let body = call(broker, &request).await?;
            let of_broker = offsets(&String::from_utf8_lossy(&body));
            // None at all: the group is changing, which says nothing about what is applied.
            let of_broker = of_broker.filter(|found| !found.is_empty());
            for (queue, filled, applied) in of_broker.ok_or(QueueError::Disconnected)? {
                queues.push((format!("{broker}/{queue}"), filled, applied));
            }
        }
        Ok(Progress::new(queues))
    }

    fn fields(&self) -> Map<String, Value> {
        let pairs = [("topic", &self.topic), ("consumerGroup", &self.group)];
        let field = |(name, value): (&str, &String)| (name.to_owned(), value.clone().into());
        pairs.into_iter().map(field).collect()
    }
}

/// Number of each queue, the next offset to be written, and the next to be applied. The body is not JSON: its map has
/// objects for keys (`ConsumeStats.java`), so the numbers are picked out of the text. None: half an entry.
fn offsets(body: &str) -> Option<Vec<(i64, i64, i64)>> {
    let mut queue = None;
    let mut found = Vec::new();
    for part in body.split('{') {
        if part.contains("\"queueId\"") {
            queue = number(part, "queueId");
        }
        if part.contains("\"brokerOffset\"") {
            let (filled, applied) = (
                number(part, "brokerOffset")?,
                number(part, "consumerOffset")?,
            );
            found.push((queue.take()?, filled, applied));
        }
    }
    Some(found)
}

fn number(text: &str, name: &str) -> Option<i64> {
    let (_, rest) = text.split_once(&format!("\"{name}\":"))?;
    let is_digit = |c: char| c == '-' || c.is_ascii_digit();
    let end = rest.find(|c| !is_digit(c)).unwrap_or(rest.len());
    rest[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_queue_or_nothing() {
        let body = r#"{"consumeTps":0.0,"offsetTable":{{"brokerName":"b","queueId":0,"topic":"t"}:
            {"brokerOffset":10,"consumerOffset":4,"lastTimestamp":1,"pullOffset":4},
            {"brokerName":"b","queueId":1,"topic":"t"}:{"consumerOffset":7,"brokerOffset":7}}}"#;
        assert_eq!(offsets(body), Some(vec![(0, 10, 4), (1, 7, 7)]));
        assert_eq!(offsets(r#"{"offsetTable":{}}"#), Some(vec![]));
        assert_eq!(offsets(r#"{{"queueId":1}:{"brokerOffset":10}}"#), None);
        assert_eq!(
            offsets(r#"{{}:{"brokerOffset":1,"consumerOffset":1}}"#),
            None
        );
    }
}
