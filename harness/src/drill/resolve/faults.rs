//! What breaks when.

use super::load::end_ms;
use super::sale::sku_id;
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

pub fn fault(section: &FaultSection) -> PlannedFault {
    match *section {
        FaultSection::RedisPrimaryKill {
            at_ms,
            sku,
            cut_replication_ms,
            restart_after_ms,
        } => {
            let sku = sku_id(sku.get());
            let restart_after_ms = restart_after_ms.get().into();
            let fault = Fault::RedisPrimaryKill {
                sku,
                cut_replication_ms,
                restart_after_ms,
            };
            PlannedFault { at_ms, fault }
        }
        FaultSection::BrokerKill {
            at_ms,
            cut_requests_ms,
            restart_after_ms,
        } => {
            let restart_after_ms = restart_after_ms.get().into();
            PlannedFault {
                at_ms,
                fault: Fault::BrokerKill {
                    cut_requests_ms,
                    restart_after_ms,
                },
            }
        }
        FaultSection::CacheStockRaise { at_ms, sku, units } => {
            let fault = Fault::CacheStockRaise {
                sku: sku_id(sku.get()),
                units: units.get(),
            };
            PlannedFault { at_ms, fault }
        }
    }
}
