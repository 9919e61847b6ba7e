//! The disk of a server is full.

use crate::drill::range::Count;
use crate::faults::error::FaultError;
use crate::faults::full_disk::{FullDisk, StoreName};
use crate::faults::kind::{Kind, Need, kind};
use crate::faults::site::Site;

kind! {
    /// Fills the disk of a server: its append-only file (Redis), tables (MySQL) or commit log (broker) are brought to a
    /// small volume that is then filled, so that writes are refused; room again, and brought back, when healed. Linux,
    /// root.
    pub struct ServerDiskFull {
        /// `redis-primary` or `redis-replica` of the SKU, `redis-0` and so on, `mysql`, or `rocketmq-broker`, which looks
        /// at its disk every second from a minute after its start on.
        pub server: StoreName,
        /// Number of the SKU whose Redis primary or replica is meant, from 1.
        pub sku: Count = Count::new(1).expect("1 is in range"),
        /// Size of the volume, MiB: what the server holds must fit (not for the broker, whose files stay).
        pub volume_mib: u64 = 64,
    }
}

impl Kind for ServerDiskFull {
    type State = Option<FullDisk>;
    const NEEDS: &'static [Need] = &[Need::OwnServers, Need::Mounts];

    async fn applicable(
        &self,
        full: &mut Option<FullDisk>,
        site: Site<'_>,
    ) -> Result<String, FaultError> {
        let full = full.insert(FullDisk::find(&self.server, site, self.sku).await?);
        let (name, what, size) = (full.name(), full.what(), self.volume_mib);
        Ok(format!("{name}: {what} on a volume of {size} MiB, filled"))
    }

    async fn inject(&self, full: &mut Option<FullDisk>, site: Site<'_>) -> Result<(), FaultError> {
        found(full)?.fill(site, self.volume_mib << 20).await
    }

    async fn receipt(
        &self,
        full: &mut Option<FullDisk>,
        site: Site<'_>,
    ) -> Result<String, FaultError> {
        found(full)?.complaint(site).await
    }

    async fn heal(&self, full: &mut Option<FullDisk>, site: Site<'_>) -> Result<(), FaultError> {
        match full {
            Some(full) => full.empty(site).await,
            None => Ok(()),
        }
    }

    async fn is_healed(&self, full: &Option<FullDisk>, site: Site<'_>) -> Result<(), FaultError> {
        match full {
            Some(full) => full.is_over(site).await,
            None => Ok(()),
        }
    }
}

fn found(full: &mut Option<FullDisk>) -> Result<&mut FullDisk, FaultError> {
    let missing = || FaultError::missing("no server was found");
    full.as_mut().ok_or_else(missing)
}
