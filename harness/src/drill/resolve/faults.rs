//! What breaks when.

use super::load::end_ms;
use super::sale::sku_id;
use super::short::Shrink;
use super::trace::Traces;
use crate::drill::file::{DrillFile, FaultSection};
use crate::drill::plan::PlannedFault;
use crate::drill::problems::Problems;
use crate::faults::Fault;

pub fn check(file: &DrillFile, traces: &Traces, problems: &mut Problems) {
    let end_ms = file.load.as_ref().and_then(|load| end_ms(load, traces));
    let (Some(end_ms), Some(faults)) = (end_ms, &file.faults) else {
        return;
    };
    for (index, section) in faults.iter().enumerate() {
        let (at_ms, sku) = place(section);
        if at_ms >= end_ms {
            let message = format!("{at_ms} is after the load's end at {end_ms} ms");
            problems.push(format!("faults[{index}].at_ms"), message);
        }
        if let (Some(sku), Some(sale)) = (sku, &file.sale)
            && sku > sale.skus.get()
        {
            let message = format!("there is no SKU {sku}; sale.skus is {}", sale.skus.get());
            problems.push(format!("faults[{index}].sku"), message);
        }
    }
}

/// When a fault comes, and the number of the SKU it is about.
fn place(section: &FaultSection) -> (u64, Option<u32>) {
    match section {
        FaultSection::RedisPrimaryKill { at_ms, sku, .. }
        | FaultSection::CacheStockRaise { at_ms, sku, .. } => (*at_ms, Some(sku.get())),
        FaultSection::BrokerKill { at_ms, .. } => (*at_ms, None),
    }
}

/// When a fault comes shrinks with the load; how long it takes is the servers' affair and does not.
pub fn fault(section: &FaultSection, shrink: Shrink) -> PlannedFault {
    let (at_ms, _) = place(section);
    PlannedFault {
        at_ms: shrink.at(at_ms),
        fault: kind(section),
    }
}

fn kind(section: &FaultSection) -> Fault {
    match *section {
        FaultSection::RedisPrimaryKill {
            sku,
            cut_replication_ms,
            restart_after_ms,
            ..
        } => Fault::RedisPrimaryKill {
            sku: sku_id(sku.get()),
            cut_replication_ms,
            restart_after_ms: restart_after_ms.get().into(),
        },
        FaultSection::BrokerKill {
            cut_requests_ms,
            restart_after_ms,
            ..
        } => Fault::BrokerKill {
            cut_requests_ms,
            restart_after_ms: restart_after_ms.get().into(),
        },
        FaultSection::CacheStockRaise { sku, units, .. } => Fault::CacheStockRaise {
            sku: sku_id(sku.get()),
            units: units.get(),
        },
    }
}
