//! Stock and holdings in Redis, from the primary of each SKU's slot.

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, RedisError, Value};
use tokio::task::JoinSet;

use super::routes::Routes;
use super::slot::slot_of;

/// Reads one Redis or a cluster of them.
pub struct CacheSource {
    nodes: Vec<SocketAddr>,
    limit: Duration,
    connections: HashMap<SocketAddr, MultiplexedConnection>,
    /// Commands that it has sent, by node.
    sent: HashMap<SocketAddr, u64>,
}

impl CacheSource {
    /// `nodes` are direct addresses; `limit` bounds each command.
    pub fn new(nodes: Vec<SocketAddr>, limit: Duration) -> Self {
        Self {
            nodes,
            limit,
            connections: HashMap::new(),
            sent: HashMap::new(),
        }
    }

    /// Commands that all primaries have executed for others, since each started.
    ///
    /// # Errors
    /// A node does not answer: a sum over some of them would mean nothing.
    pub async fn calls(&mut self) -> Result<u64, String> {
        let mut calls = 0;
        for (address, answer) in self.ask_all(&["INFO"]).await {
            let info = answer.map_err(|error| format!("{address}: {error}"))?;
            let info = string(&info)?;
            if field(&info, "role:") == Some("master") {
                let executed = field(&info, "total_commands_processed:");
                let executed: Option<u64> = executed.and_then(|text| text.parse().ok());
                let ours = self.sent.get(&address).copied().unwrap_or(0);
                let executed = executed.ok_or("INFO does not count commands")?;
                calls += executed.saturating_sub(ours);
            }
        }
        Ok(calls)
    }

    /// Asks every node who owns what. Nodes that do not answer are left out.
    ///
    /// # Errors
    /// No node answers.
    pub async fn routes(&mut self) -> Result<Routes, String> {
        let mut routes = Routes::default();
        let mut errors = Vec::new();
        let mut views = 0;
        for (address, answer) in self.ask_all(&["CLUSTER", "NODES"]).await {
            match answer {
                Ok(text) => {
                    views += 1;
                    routes.add_view(address, &string(&text)?);
                }
                Err(error) if error.to_string().contains("cluster support disabled") => {
                    return Ok(Routes::single(address));
                }
                Err(error) => errors.push(format!("{address}: {error}")),
            }
        }
        if views == 0 {
            Err(format!("no Redis node answers ({})", errors.join("; ")))
        } else {
            Ok(routes)
        }
    }

    /// Asks all nodes the same at the same time: one that hangs keeps none of the others waiting.
    async fn ask_all(
        &mut self,
        command: &'static [&'static str],
    ) -> Vec<(SocketAddr, Result<Value, RedisError>)> {
        let mut tasks = JoinSet::new();
        for address in self.nodes.clone() {
            let (kept, limit) = (self.take(address), self.limit);
            tasks.spawn(async move { (address, run(address, kept, limit, command).await) });
        }
        let mut answers = Vec::with_capacity(self.nodes.len());
        while let Some(Ok((address, (connection, answer)))) = tasks.join_next().await {
            self.keep(address, connection, &answer);
            answers.push((address, answer));
        }
        answers
    }

    /// Runs a command whose first argument is its key on the primary of that key.
    ///
    /// # Errors
    /// The primary is not known, does not answer in time, or refuses.
    pub async fn ask(&mut self, routes: &Routes, command: &[String]) -> Result<Value, String> {
        let key = command.get(1).map_or("", String::as_str);
        let address = routes.owner(slot_of(key))?;
        let kept = self.take(address);
        let (connection, answer) = run(address, kept, self.limit, command).await;
        self.keep(address, connection, &answer);
        answer.map_err(|error| format!("{address}: {error}"))
    }

    /// The connection there is, for one command.
    fn take(&mut self, address: SocketAddr) -> Option<MultiplexedConnection> {
        *self.sent.entry(address).or_default() += 1;
        self.connections.remove(&address)
    }

    /// Keeps a connection on which an answer came, were it a refusal: a late one must not be taken for the next.
    fn keep(
        &mut self,
        address: SocketAddr,
        connection: Option<MultiplexedConnection>,
        answer: &Result<Value, RedisError>,
    ) {
        let has_answered = answer
            .as_ref()
            .map_or_else(|error| error.code().is_some(), |_| true);
        if let Some(connection) = connection.filter(|_| has_answered) {
            self.connections.insert(address, connection);
        }
    }
}

/// Runs one command; the connection comes back, if there is one.
async fn run<A: redis::ToRedisArgs>(
    address: SocketAddr,
    kept: Option<MultiplexedConnection>,
    limit: Duration,
    command: &[A],
) -> (Option<MultiplexedConnection>, Result<Value, RedisError>) {
    let connected = match kept {
        Some(connection) => Ok(connection),
        None => connect(address, limit).await,
    };
    match connected {
        Ok(mut connection) => {
            let answer = request(command).query_async(&mut connection).await;
            (Some(connection), answer)
        }
        Err(error) => (None, Err(error)),
    }
}

async fn connect(
    address: SocketAddr,
    limit: Duration,
) -> Result<MultiplexedConnection, RedisError> {
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(limit))
        .set_response_timeout(Some(limit));
    let client = Client::open(format!("redis://{address}/"))?;
    client
        .get_multiplexed_async_connection_with_config(&config)
        .await
}

/// The value of a line of INFO.
fn field<'t>(info: &'t str, name: &str) -> Option<&'t str> {
    info.lines().find_map(|line| line.strip_prefix(name))
}

fn request<A: redis::ToRedisArgs>(command: &[A]) -> redis::Cmd {
    let mut out = redis::Cmd::new();
    for part in command {
        out.arg(part);
    }
    out
}

/// An integer answer; nil (no key, no field) is None.
///
/// # Errors
/// The answer is something else.
pub fn integer(value: &Value) -> Result<Option<i64>, String> {
    match value {
        Value::Nil => Ok(None),
        Value::Int(number) => Ok(Some(*number)),
        other => {
            let text = string(other)?;
            let number = text
                .parse()
                .map_err(|_| format!("`{text}` is not a whole number"))?;
            Ok(Some(number))
        }
    }
}

/// A field/value answer with whole numbers for values.
///
/// # Errors
/// The answer is something else.
pub fn integers_by_field(value: &Value) -> Result<BTreeMap<String, i64>, String> {
    let pairs: Vec<(&Value, &Value)> = match value {
        Value::Nil => Vec::new(),
        Value::Map(pairs) => pairs.iter().map(|(field, value)| (field, value)).collect(),
        Value::Array(items) if items.len() % 2 == 0 => items
            .chunks_exact(2)
            .map(|pair| (&pair[0], &pair[1]))
            .collect(),
        other => return Err(format!("not a field/value list: {other:?}")),
    };
    let read =
        |(field, value): (&Value, &Value)| Ok((string(field)?, integer(value)?.unwrap_or(0)));
    pairs.into_iter().map(read).collect()
}

fn string(value: &Value) -> Result<String, String> {
    match value {
        Value::SimpleString(text) => Ok(text.clone()),
        Value::BulkString(bytes) => {
            String::from_utf8(bytes.clone()).map_err(|_| "an answer is not UTF-8".to_owned())
        }
        other => Err(format!("not a text or number: {other:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bulk(text: &str) -> Value {
        Value::BulkString(text.as_bytes().to_vec())
    }

    #[test]
    fn reads_integers_and_nothing_else() {
        assert_eq!(integer(&Value::Nil), Ok(None));
        assert_eq!(integer(&Value::Int(-3)), Ok(Some(-3)));
        assert_eq!(integer(&bulk("12")), Ok(Some(12)));
        assert!(integer(&bulk("twelve")).is_err());
        assert!(integer(&Value::Array(vec![])).is_err());
    }

    #[test]
    fn reads_field_lists_of_both_protocols() {
        let expected: BTreeMap<String, i64> = [("u1".to_owned(), 2)].into();
        assert_eq!(
            integers_by_field(&Value::Array(vec![bulk("u1"), bulk("2")])),
            Ok(expected.clone())
        );
        assert_eq!(
            integers_by_field(&Value::Map(vec![(bulk("u1"), bulk("2"))])),
            Ok(expected)
        );
        assert_eq!(integers_by_field(&Value::Nil), Ok(BTreeMap::new()));
        assert!(integers_by_field(&Value::Array(vec![bulk("u1")])).is_err());
    }
}
