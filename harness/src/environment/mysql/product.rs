//! The two products and what they call replication. Both by GTID: MariaDB's own kind, and MySQL's sets.

use std::fmt;

use super::USER;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Product {
    MariaDb,
    /// Before 8.2, which gave `RESET MASTER` another name.
    Mysql80,
    Mysql,
}

impl fmt::Display for Product {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::MariaDb => "MariaDB",
            Self::Mysql80 | Self::Mysql => "MySQL",
        })
    }
}

impl Product {
    /// By what `SELECT VERSION()` answers.
    pub fn of(version: &str) -> Self {
        let mut numbers = version.split(['.', '-']).map(str::parse::<u32>);
        match (numbers.next(), numbers.next()) {
            _ if version.contains("MariaDB") => Self::MariaDb,
            (Some(Ok(major)), Some(Ok(minor))) if (major, minor) < (8, 2) => Self::Mysql80,
            _ => Self::Mysql,
        }
    }

    /// What a server's binary log holds.
    pub(super) fn position(self) -> &'static str {
        match self {
            Self::MariaDb => "SELECT @@GLOBAL.gtid_binlog_pos",
            Self::Mysql80 | Self::Mysql => "SELECT @@GLOBAL.gtid_executed",
        }
    }

    /// Answers 0 when the replica has replayed everything up to `position`.
    pub(super) fn has_replayed(self, position: &str) -> String {
        let function = match self {
            Self::MariaDb => "MASTER_GTID_WAIT",
            Self::Mysql80 | Self::Mysql => "WAIT_FOR_EXECUTED_GTID_SET",
        };
        // 0 would wait for ever in MySQL.
        format!("SELECT CAST({function}('{position}', 0.05) AS SIGNED)")
    }

    /// The column names of `SHOW REPLICA STATUS` that differ.
    pub(super) fn columns(self) -> [&'static str; 3] {
        match self {
            Self::MariaDb => [
                "Slave_IO_Running",
                "Slave_SQL_Running",
                "Seconds_Behind_Master",
            ],
            Self::Mysql80 | Self::Mysql => [
                "Replica_IO_Running",
                "Replica_SQL_Running",
                "Seconds_Behind_Source",
            ],
        }
    }

    /// Forgets what a stopped replica followed and holds in its own log.
    pub(super) fn forget(self) -> [&'static str; 2] {
        let forget_log = match self {
            Self::MariaDb | Self::Mysql80 => "RESET MASTER",
            Self::Mysql => "RESET BINARY LOGS AND GTIDS",
        };
        ["RESET REPLICA ALL", forget_log]
    }

    /// Follows the server behind `port` of 127.0.0.1 from `position` on. A lost connection is noticed and made
    /// again within seconds: the defaults take a minute.
    pub(super) fn follow(self, port: u16, position: &str) -> [String; 3] {
        let (start, change) = match self {
            Self::MariaDb => (
                "gtid_slave_pos",
                format!(
                    "CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = {port}, \
                     MASTER_USER = '{USER}', MASTER_PASSWORD = '{USER}', MASTER_CONNECT_RETRY = 1, \
                     MASTER_HEARTBEAT_PERIOD = 1, MASTER_USE_GTID = slave_pos"
                ),
            ),
            Self::Mysql80 | Self::Mysql => (
                "gtid_purged",
                format!(
                    "CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = {port}, \
                     SOURCE_USER = '{USER}', SOURCE_PASSWORD = '{USER}', SOURCE_CONNECT_RETRY = 1, \
                     SOURCE_RETRY_COUNT = 86400, SOURCE_HEARTBEAT_PERIOD = 1, \
                     SOURCE_AUTO_POSITION = 1, GET_SOURCE_PUBLIC_KEY = 1"
                ),
            ),
        };
        [
            format!("SET GLOBAL {start} = '{position}'"),
            change,
            "START REPLICA".to_owned(),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_products_by_their_versions() {
        let cases = [
            ("10.11.19-MariaDB-0+deb12u1-log", Product::MariaDb),
            ("8.0.43-0ubuntu0.24.04.1", Product::Mysql80),
            ("8.4.6", Product::Mysql),
            ("9.7.0-1", Product::Mysql),
        ];
        for (version, product) in cases {
            assert_eq!(Product::of(version), product, "{version}");
        }
    }
}
