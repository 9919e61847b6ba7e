//! The servers of a stack: started together, or found where somebody else runs them.

use std::sync::Arc;
use std::time::Instant;

use futures_util::future::join_all;

use super::endpoints::{Located, Silences};
use super::error::EnvironmentError;
use super::launcher::{Launcher, Place};
use super::mysql::{self, Access, Mysql, MysqlReplica, Role};
use super::redis_cluster::{RedisCluster, RedisNode};
use super::rocketmq::RocketMq;
use crate::proxy::ProxyClient;

#[derive(Debug)]
pub(super) struct Components {
    pub redis: RedisCluster,
    pub mysql: Mysql,
    /// None: a stack of somebody else's that has none.
    pub mysql_replica: Option<MysqlReplica>,
    pub rocketmq: RocketMq,
}

impl Components {
    /// All of them, ready.
    ///
    /// # Errors
    /// One that cannot be started or is not ready in time; all that do not answer, where somebody else runs them.
    pub async fn ready(
        launcher: &Arc<Launcher>,
        links: &ProxyClient,
        say: impl Fn(&str) + Copy,
    ) -> Result<Self, EnvironmentError> {
        match &launcher.place {
            Place::Native(_) | Place::Containers(_) => Self::start(launcher, links, say).await,
            Place::Attached(located) => Self::attach(launcher, links, located, say).await,
        }
    }

    async fn start(
        launcher: &Arc<Launcher>,
        links: &ProxyClient,
        say: impl Fn(&str) + Copy,
    ) -> Result<Self, EnvironmentError> {
        say("starting Redis Cluster, RocketMQ and MySQL");
        let (redis, (mysql, mysql_replica), rocketmq) = tokio::try_join!(
            told(say, "Redis Cluster", RedisCluster::start(launcher, links)),
            told(say, "MySQL with its replica", mysql::start(launcher, links)),
            told(say, "RocketMQ", RocketMq::start(launcher, links)),
        )?;
        Ok(Self {
            redis,
            mysql,
            mysql_replica: Some(mysql_replica),
            rocketmq,
        })
    }

    async fn attach(
        launcher: &Arc<Launcher>,
        links: &ProxyClient,
        located: &Located,
        say: impl Fn(&str),
    ) -> Result<Self, EnvironmentError> {
        let file = located.endpoints.file.display();
        say(&format!("attaching to the servers of {file}"));
        let nodes = located.redis.iter().enumerate();
        let (nodes, mysql, replica, rocketmq) = tokio::join!(
            join_all(nodes.map(|(index, address)| RedisNode::attach(launcher, index, *address))),
            attach_mysql(launcher, located),
            attach_replica(launcher, located),
            RocketMq::attach(launcher, links, located),
        );
        let mut silences = Silences::default();
        let nodes = nodes.into_iter().filter_map(|node| silences.hear(node));
        let nodes: Vec<RedisNode> = nodes.collect();
        let (mysql, replica) = (silences.hear(mysql), silences.hear(replica));
        let rocketmq = silences.hear(rocketmq);
        let ((mysql, mysql_replica), rocketmq) = silences.or(mysql.zip(replica).zip(rocketmq))?;
        Ok(Self {
            redis: RedisCluster::attach(nodes).await?,
            mysql,
            mysql_replica,
            rocketmq,
        })
    }
}

async fn attach_mysql(
    launcher: &Arc<Launcher>,
    located: &Located,
) -> Result<Mysql, EnvironmentError> {
    let access = Access {
        observer: located.endpoints.mysql.url.clone(),
        service: located.endpoints.mysql.service_url.clone(),
        node: located.endpoints.mysql.node_url.clone(),
    };
    Mysql::attach(launcher, Role::Primary, located.mysql, access).await
}

async fn attach_replica(
    launcher: &Arc<Launcher>,
    located: &Located,
) -> Result<Option<MysqlReplica>, EnvironmentError> {
    let url = located.endpoints.mysql.replica_url.clone();
    let Some((address, url)) = located.replica.zip(url) else {
        return Ok(None);
    };
    let access = Access {
        observer: url.clone(),
        service: url.clone(),
        node: url,
    };
    let mysql = Mysql::attach(launcher, Role::Replica, address, access).await?;
    Ok(Some(MysqlReplica::attach(mysql)))
}

/// Says when a part is ready.
async fn told<T>(
    say: impl Fn(&str),
    part: &str,
    start: impl Future<Output = Result<T, EnvironmentError>>,
) -> Result<T, EnvironmentError> {
    let begun = Instant::now();
    let started = start.await?;
    say(&format!(
        "{part} is ready after {:.1} s",
        begun.elapsed().as_secs_f64()
    ));
    Ok(started)
}
