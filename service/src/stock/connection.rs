//! A connection to one Redis node, and who answers at its other end.

use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::io::tcp::TcpSettings;
use redis::{AsyncConnectionConfig, Client, IntoConnectionInfo, RedisError};

use crate::settings::NodeAddress;

/// A node that does not accept within this time is taken for dead.
const CONNECT_TIMEOUT: Duration = Duration::from_millis(500);

/// An answer that takes longer is taken for lost: its outcome is unknown.
pub const RESPONSE_TIMEOUT: Duration = Duration::from_secs(1);

/// Connects; never re-sends anything.
///
/// # Errors
/// Refused, not accepted in time, or no Redis.
pub async fn open(address: &NodeAddress) -> Result<MultiplexedConnection, RedisError> {
    let info = (address.host.as_str(), address.port).into_connection_info()?;
    let info = info.set_tcp_settings(TcpSettings::default().set_nodelay(true));
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(CONNECT_TIMEOUT))
        .set_response_timeout(Some(RESPONSE_TIMEOUT));
    Client::open(info)?
        .get_multiplexed_async_connection_with_config(&config)
        .await
}

/// What a node says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vitals {
    /// New for every start of the server process.
    pub run_id: String,
    pub is_primary: bool,
    pub replicas_online: u32,
}

/// Asks the server at the other end.
///
/// # Errors
/// Those of the connection.
pub async fn vitals(connection: &mut MultiplexedConnection) -> Result<Vitals, RedisError> {
    let mut pipe = redis::pipe();
    pipe.cmd("INFO")
        .arg("server")
        .cmd("INFO")
        .arg("replication");
    let (server, replication): (String, String) = pipe.query_async(connection).await?;
    Ok(read_vitals(&server, &replication))
}

fn read_vitals(server: &str, replication: &str) -> Vitals {
    let field = |info: &str, name: &str| {
        info.lines()
            .find_map(|line| line.strip_prefix(name))
            .unwrap_or_default()
            .trim()
            .to_owned()
    };
    let online = |line: &&str| line.starts_with("slave") && line.contains("state=online");
    let replicas = replication.lines().filter(online).count();
    Vitals {
        run_id: field(server, "run_id:"),
        is_primary: field(replication, "role:") == "master",
        replicas_online: u32::try_from(replicas).unwrap_or(u32::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vitals_are_read_from_info() {
        let server = "# Server\r\nredis_version:7.0.15\r\nrun_id:abc\r\n";
        let primary = "role:master\r\nconnected_slaves:2\r\nslave0:ip=127.0.0.1,port=1,state=online,offset=1,lag=0\r\nslave1:ip=127.0.0.1,port=2,state=wait_bgsave,offset=0,lag=0\r\n";
        let expected = Vitals {
            run_id: "abc".into(),
            is_primary: true,
            replicas_online: 1,
        };
        assert_eq!(read_vitals(server, primary), expected);
        let replica = read_vitals(server, "role:slave\r\nslave_repl_offset:9\r\n");
        assert!(!replica.is_primary);
        assert_eq!(replica.replicas_online, 0);
    }
}
