//! What breaks when.

use super::load::end_ms;
use super::service;
use super::short::Shrink;
use super::trace::Traces;
use crate::drill::file::{DrillFile, FaultSection};
use crate::drill::problems::Problems;
use crate::environment::links::Layout;
use crate::faults::{Fault, PlannedFault};

pub fn check(file: &DrillFile, traces: &Traces, problems: &mut Problems) {
    let end_ms = file.load.as_ref().and_then(|load| end_ms(load, traces));
    for (index, section) in file.faults.iter().flatten().enumerate() {
        let mut wrong =
            |key: &str, message| problems.push(format!("faults[{index}].{key}"), message);
        match (section.at_ms, end_ms) {
            (None, _) => wrong("at_ms", "missing: when is it injected?".to_owned()),
            (Some(at_ms), Some(end_ms)) if at_ms >= end_ms => {
                wrong(
                    "at_ms",
                    format!("{at_ms} is after the load's end at {end_ms} ms"),
                );
            }
            _ => {}
        }
        let kind = section.fault.kind();
        match (section.fault.about().heals, section.for_ms) {
            (true, None) => wrong("for_ms", format!("missing: when is {kind} healed?")),
            (false, Some(_)) => wrong(
                "for_ms",
                format!("{kind} is a change of state that is not healed"),
            ),
            _ => {}
        }
        if let Some(message) = check_links(file, &section.fault) {
            wrong("links", message);
        }
        if let (Some(sku), Some(sale)) = (section.fault.sku(), &file.sale)
            && sku > sale.skus.get()
        {
            wrong(
                "sku",
                format!("there is no SKU {sku}; sale.skus is {}", sale.skus.get()),
            );
        }
    }
}

fn check_links(file: &DrillFile, fault: &Fault) -> Option<String> {
    let links = fault.links()?;
    let there_are = Layout::OURS.names(service::count(file.service.as_ref()));
    let idle = links.idle(&there_are)?;
    Some(format!(
        "no link is called `{idle}`; there are {}",
        there_are.join(", ")
    ))
}

/// When a fault comes shrinks with the load; how long it takes is the servers' affair and does not.
pub fn fault(section: &FaultSection, shrink: Shrink) -> PlannedFault {
    PlannedFault {
        at_ms: shrink.at(section.at_ms.unwrap_or_default()),
        for_ms: section.for_ms.map(|ms| ms.get().into()),
        fault: section.fault.clone(),
    }
}
