//! Brokers, their health and the topic, asked for directly.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::remoting::{Request, call};
use super::{QUEUES, QueueError};

/// `RequestCode.java`
const GET_MAX_OFFSET: i64 = 30;
const UPDATE_AND_CREATE_TOPIC: i64 = 17;
const GET_ROUTE_BY_TOPIC: i64 = 105;
const GET_BROKER_CLUSTER_INFO: i64 = 106;
/// Broker id of a master.
const MASTER: &str = "0";
const READ_AND_WRITE: i64 = 6;

/// Advertised addresses of the master brokers that the name server knows.
pub(super) async fn brokers(namesrv: &str) -> Result<Vec<String>, QueueError> {
    let request = Request {
        code: GET_BROKER_CLUSTER_INFO,
        name: "its brokers",
        fields: Map::new(),
    };
    let body = call(namesrv, &request).await?;
    let text = quote_numeric_keys(&String::from_utf8_lossy(&body));
    let info: ClusterInfo = serde_json::from_str(&text).map_err(|error| QueueError::Frame {
        peer: namesrv.to_owned(),
        request: request.name,
        detail: error.to_string(),
    })?;
    let mut masters: Vec<String> = info
        .broker_addr_table
        .into_values()
        .filter_map(|mut broker| broker.broker_addrs.remove(MASTER))
        .collect();
    masters.sort();
    if masters.is_empty() {
        return Err(QueueError::NoBroker {
            namesrv: namesrv.to_owned(),
        });
    }
    Ok(masters)
}

/// Asks a broker for something that it must look up in its store.
pub(super) async fn probe(broker: &str, topic: &str) -> Result<(), QueueError> {
    let request = Request {
        code: GET_MAX_OFFSET,
        name: "an offset",
        fields: fields([("topic", json!(topic)), ("queueId", json!(0))]),
    };
    call(broker, &request).await.map(|_| ())
}

/// Creates the topic with [`QUEUES`] queues on every broker, or gives it that many; returns the brokers. The
/// name server must know the topic afterwards, because the client looks there.
pub(super) async fn ensure_topic(namesrv: &str, topic: &str) -> Result<Vec<String>, QueueError> {
    let brokers = brokers(namesrv).await?;
    let create = Request {
        code: UPDATE_AND_CREATE_TOPIC,
        name: "the topic",
        fields: fields([
            ("topic", json!(topic)),
            ("defaultTopic", json!("TBW102")),
            ("readQueueNums", json!(QUEUES)),
            ("writeQueueNums", json!(QUEUES)),
            ("perm", json!(READ_AND_WRITE)),
            ("topicFilterType", json!("SINGLE_TAG")),
            ("topicSysFlag", json!(0)),
            ("order", json!(false)),
        ]),
    };
    for broker in &brokers {
        call(broker, &create).await?;
    }
    let route = Request {
        code: GET_ROUTE_BY_TOPIC,
        name: "the topic's route",
        fields: fields([("topic", json!(topic))]),
    };
    call(namesrv, &route).await?;
    Ok(brokers)
}

/// Remoting header fields; the protocol carries all of them as text.
fn fields<const N: usize>(pairs: [(&str, Value); N]) -> Map<String, Value> {
    pairs
        .into_iter()
        .map(|(name, value)| {
            let text = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            (name.to_owned(), Value::String(text))
        })
        .collect()
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClusterInfo {
    #[serde(default)]
    broker_addr_table: BTreeMap<String, BrokerData>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct BrokerData {
    broker_addrs: BTreeMap<String, String>,
}

/// Java's serialiser writes `{0:"127.0.0.1:10911"}`; JSON wants the key quoted. Text in quotes is left alone.
fn quote_numeric_keys(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 16);
    let mut in_text = false;
    let mut digits = String::new();
    let mut at_key = false;
    for character in text.chars() {
        if !in_text && at_key && character.is_ascii_digit() {
            digits.push(character);
            continue;
        }
        if !digits.is_empty() {
            let quote = if character == ':' { "\"" } else { "" };
            quoted.extend([quote, &digits, quote]);
            digits.clear();
        }
        if character == '"' {
            in_text = !in_text;
        }
        at_key = !in_text && matches!(character, '{' | ',');
        quoted.push(character);
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numeric_keys_are_quoted_and_nothing_else_is() {
        let table = [
            (r#"{"a":{0:"x:1",12:"y"}}"#, r#"{"a":{"0":"x:1","12":"y"}}"#),
            (r#"{"a":"{0:1,2:3}"}"#, r#"{"a":"{0:1,2:3}"}"#),
            (r#"{"a":[1,2],"b":30}"#, r#"{"a":[1,2],"b":30}"#),
            ("{}", "{}"),
        ];
        for (java, json) in table {
            assert_eq!(quote_numeric_keys(java), json);
        }
    }

    #[test]
    fn fields_travel_as_text() {
        let fields = fields([("queueId", json!(0)), ("topic", json!("t"))]);
        assert_eq!(fields["queueId"], "0");
        assert_eq!(fields["topic"], "t");
    }
}
