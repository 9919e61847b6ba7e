//! Where a name server sends clients: its answer to ClusterInfo (`ClusterInfo` of Apache RocketMQ 5.3.3).

use std::collections::BTreeMap;
use std::net::SocketAddr;

use serde::Deserialize;

/// Of a broker's addresses, the one that takes writes.
const MASTER: &str = "0";

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClusterInfo {
    broker_addr_table: BTreeMap<String, Broker>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Broker {
    broker_addrs: BTreeMap<String, SocketAddr>,
}

/// The way to a broker.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Route {
    pub broker: String,
    pub address: SocketAddr,
}

impl Route {
    /// To the one broker that the answer names.
    ///
    /// # Errors
    /// There is none, or several: of a topic on several brokers the backlog would be read in part only.
    pub fn only(body: &[u8]) -> Result<Self, String> {
        let body = with_quoted_keys(&String::from_utf8_lossy(body));
        let info: ClusterInfo =
            serde_json::from_str(&body).map_err(|e| format!("strange answer: {e}: {body}"))?;
        let names: Vec<&str> = info.broker_addr_table.keys().map(String::as_str).collect();
        let mut brokers = info.broker_addr_table.iter();
        let (Some((name, broker)), None) = (brokers.next(), brokers.next()) else {
            return Err(format!(
                "it knows {} brokers ({}); a stack has one",
                names.len(),
                names.join(", ")
            ));
        };
        let master = broker.broker_addrs.get(MASTER);
        let address = *master.ok_or_else(|| format!("{name} has no master now"))?;
        Ok(Self {
            broker: name.clone(),
            address,
        })
    }
}

/// RocketMQ writes numbers that are keys as they are, which is not JSON.
fn with_quoted_keys(text: &str) -> String {
    let (mut quoted, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find(['{', ',']) {
        let (head, tail) = rest.split_at(at + 1);
        let digits = tail.len() - tail.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        quoted.push_str(head);
        rest = tail;
        if digits > 0 && tail[digits..].starts_with(':') {
            quoted.push_str(&format!("\"{}\"", &tail[..digits]));
            rest = &tail[digits..];
        }
    }
    quoted + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(brokers: &str) -> Vec<u8> {
        format!(r#"{{"brokerAddrTable":{{{brokers}}},"clusterAddrTable":{{"c":["a"]}}}}"#).into()
    }

    fn broker(name: &str, addresses: &str) -> String {
        format!(r#""{name}":{{"brokerAddrs":{{{addresses}}},"brokerName":"{name}","cluster":"c"}}"#)
    }

    #[test]
    fn leads_to_the_master_of_the_only_broker() {
        let addresses = r#"0:"127.0.0.1:10911",1:"127.0.0.1:10921""#;
        let route = Route::only(&known(&broker("a", addresses))).unwrap();
        assert_eq!((route.broker.as_str(), route.address.port()), ("a", 10_911));
    }

    #[test]
    fn says_what_is_not_so() {
        let one = broker("a", r#"0:"127.0.0.1:1""#);
        for (body, why) in [
            (known(""), "knows 0 brokers"),
            (
                known(&format!("{one},{}", one.replace("\"a\"", "\"b\""))),
                "2 brokers (a, b)",
            ),
            (known(&broker("a", r#"1:"127.0.0.1:1""#)), "a has no master"),
            (b"no".to_vec(), "strange answer"),
        ] {
            let error = Route::only(&body).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }
}
