//! What is on sale: the SKUs get their names.

use super::load::end_ms;
use super::short::Shrink;
use super::trace::Traces;
use crate::drill::file::{DrillFile, SaleSection};
use crate::drill::plan::{Sale, Sku};
use crate::drill::problems::Problems;
use crate::target::Target;

pub fn check(file: &DrillFile, target: Option<&Target>, traces: &Traces, problems: &mut Problems) {
    let opens_at_ms = file.sale.as_ref().map_or(0, |sale| sale.opens_at_ms);
    if opens_at_ms == 0 {
        return;
    }
    let mut wrong = |message: String| problems.push("sale.opens_at_ms", message);
    if let Some(target) = target.filter(|target| target.start.open.is_none()) {
        wrong(format!(
            "target {} has no start.open request to open the sale with",
            target.name
        ));
    }
    let end_ms = file.load.as_ref().and_then(|load| end_ms(load, traces));
    if let Some(end_ms) = end_ms.filter(|end_ms| opens_at_ms >= *end_ms) {
        wrong(format!(
            "{opens_at_ms} is after the load's end at {end_ms} ms"
        ));
    }
}

pub fn sale(section: &SaleSection, run: &str, shrink: Shrink) -> Sale {
    let sku = |number| Sku {
        id: sku_id(number),
        stock: section.units_per_sku.get(),
    };
    Sale {
        id: run.to_owned(),
        skus: (1..=section.skus.get()).map(sku).collect(),
        limit_per_user: section.limit_per_user.get(),
        opens_at_ms: shrink.at(section.opens_at_ms),
    }
}

pub fn sku_id(number: u32) -> String {
    format!("sku-{number:02}")
}
