//! A server whose disk is full: while it runs, its files are brought to a small volume of our own, which is then filled.
//!
//! Each server has its own way there and back; what it does when it cannot write is its own affair, and its
//! own words are the proof.

mod broker;
mod mysql;
mod redis;

use std::sync::Arc;

use deserr::Deserr;
use serde::{Deserialize, Serialize};

use self::broker::BrokerFiles;
use self::mysql::MysqlFiles;
use self::redis::RedisFiles;
use super::error::FaultError;
use super::servers::ServerName;
use super::site::Site;
use crate::drill::problems::OutOfRange;
use crate::drill::range::Count;
use crate::environment::{Server, Volume};

/// More than any server makes.
const FILES_MAX: u64 = 100_000;

/// A server that can be brought to a full disk: its role or its name.
#[derive(Debug, Clone, PartialEq, Eq, Deserr, Serialize, Deserialize)]
#[deserr(try_from(ServerName) = StoreName::new -> OutOfRange)]
#[serde(transparent)]
pub struct StoreName(ServerName);

impl StoreName {
    /// # Errors
    /// It keeps nothing on a disk, or what it keeps cannot be moved.
    pub fn new(server: ServerName) -> Result<Self, OutOfRange> {
        let name = server.as_str();
        if name.starts_with("redis-") || ["mysql", "rocketmq-broker"].contains(&name) {
            return Ok(Self(server));
        }
        Err(OutOfRange(format!(
            "the disk of `{name}` cannot be filled; one of redis-primary, redis-replica, redis-0 and on, mysql, \
             rocketmq-broker"
        )))
    }
}

/// What a server keeps on its disk.
#[derive(Debug)]
enum Files {
    Redis(RedisFiles),
    Mysql(MysqlFiles),
    Broker(BrokerFiles),
}

/// The victim, on its way to the volume and back.
#[derive(Debug)]
pub(crate) struct FullDisk {
    server: Arc<Server>,
    files: Files,
    volume: Volume,
}

impl FullDisk {
    pub async fn find(name: &StoreName, site: Site<'_>, sku: Count) -> Result<Self, FaultError> {
        let server = name.0.find(site, sku).await?;
        let files = match server.component() {
            "mysql" => Files::Mysql(MysqlFiles::find(site).await?),
            "rocketmq-broker" => Files::Broker(BrokerFiles::find(site)?),
            name => Files::Redis(RedisFiles::find(site, name).await?),
        };
        let volume = format!("volume-{}", server.component());
        Ok(Self {
            volume: Volume::at(site.stack.scratch().join(volume)),
            server,
            files,
        })
    }

    pub fn name(&self) -> &str {
        self.server.component()
    }

    /// What is brought to the volume, in words.
    pub fn what(&self) -> &'static str {
        match &self.files {
            Files::Redis(_) => "append-only file",
            Files::Mysql(_) => "tables of the service",
            Files::Broker(_) => "commit log",
        }
    }

    /// Its files are on a volume of `bytes`, which is full.
    ///
    /// # Errors
    /// It cannot be mounted, the server does not see it, or what the server holds does not fit.
    pub async fn fill(&mut self, site: Site<'_>, bytes: u64) -> Result<(), FaultError> {
        let files_max = match &self.files {
            Files::Broker(files) => files.count(),
            Files::Redis(_) | Files::Mysql(_) => FILES_MAX,
        };
        self.volume.mount(bytes, files_max)?;
        if !self
            .volume
            .is_seen_by(self.server.pid().unwrap_or_default())
        {
            let missing = format!("{} does not see the volume", self.name());
            return Err(FaultError::missing(missing));
        }
        match &mut self.files {
            Files::Redis(files) => files.move_to(&self.volume, site).await?,
            Files::Mysql(files) => files.move_to(&self.volume, site).await?,
            Files::Broker(files) => files.move_to(&self.volume)?,
        }
        Ok(self.volume.fill()?)
    }

    /// The server says that it cannot write; the error says that it has not yet.
    pub async fn complaint(&self, site: Site<'_>) -> Result<String, FaultError> {
        match &self.files {
            Files::Redis(files) => files.complaint(site).await,
            Files::Mysql(files) => files.complaint(),
            Files::Broker(files) => files.complaint(),
        }
    }

    /// There is room, and the files are where they were. Repeating it changes nothing.
    pub async fn empty(&mut self, site: Site<'_>) -> Result<(), FaultError> {
        self.volume.make_room();
        match &mut self.files {
            Files::Redis(files) => files.move_home(&self.volume, &self.server, site).await?,
            Files::Mysql(files) => files.move_home(&self.volume, &self.server, site).await?,
            Files::Broker(files) => files.move_home(),
        }
        self.volume.unmount();
        Ok(())
    }

    /// It can write again; the error says why it cannot.
    pub async fn is_over(&self, site: Site<'_>) -> Result<(), FaultError> {
        if self.volume.is_mounted() {
            return Err(FaultError::missing("its volume is still mounted"));
        }
        match &self.files {
            Files::Redis(files) => files.can_write(site).await,
            Files::Mysql(files) => files.can_write(site).await,
            Files::Broker(files) => files.can_write(&self.server),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_keeps_a_store_has_a_disk_to_be_filled() {
        let of = |name: &str| StoreName::new(ServerName::new(name.to_owned()).unwrap());
        for name in ["redis-primary", "redis-5", "mysql", "rocketmq-broker"] {
            assert!(of(name).is_ok(), "{name}");
        }
        for name in ["mysql-replica", "rocketmq-namesrv", "service-0"] {
            let error = of(name).unwrap_err();
            assert!(error.0.contains("one of redis-primary"), "{error:?}");
        }
    }
}
