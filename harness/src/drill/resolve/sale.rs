//! What is on sale: the SKUs get their names.

use super::load::end_ms;
use super::short::Shrink;
use super::trace::Traces;
use crate::drill::file::{DrillFile, SaleSection, TopUpSection};
use crate::drill::plan::{PlannedTopUp, Sale, Sku};
use crate::drill::problems::Problems;
use crate::target::Target;

pub fn check(file: &DrillFile, target: Option<&Target>, traces: &Traces, problems: &mut Problems) {
    let Some(sale) = &file.sale else {
        return;
    };
    let end_ms = file.load.as_ref().and_then(|load| end_ms(load, traces));
    if sale.opens_at_ms > 0 {
        check_opening(sale, target, end_ms, problems);
    }
    if let (Some(target), false) = (target, sale.top_ups.is_empty())
        && target.start.top_up.is_none()
    {
        problems.push("sale.top_ups", no_request(target, "top_up", "add units"));
    }
    for (index, top_up) in sale.top_ups.iter().enumerate() {
        check_top_up(sale, top_up, end_ms, |key, message| {
            problems.push(format!("sale.top_ups[{index}].{key}"), message);
        });
    }
}

fn check_opening(
    sale: &SaleSection,
    target: Option<&Target>,
    end_ms: Option<u64>,
    problems: &mut Problems,
) {
    let opens_at_ms = sale.opens_at_ms;
    let mut wrong = |message: String| problems.push("sale.opens_at_ms", message);
    if let Some(target) = target.filter(|target| target.start.open.is_none()) {
        wrong(no_request(target, "open", "open the sale"));
    }
    if let Some(end_ms) = end_ms.filter(|end_ms| opens_at_ms >= *end_ms) {
        wrong(format!(
            "{opens_at_ms} is after the load's end at {end_ms} ms"
        ));
    }
}

fn no_request(target: &Target, request: &str, what: &str) -> String {
    let name = &target.name;
    format!("target {name} has no start.{request} request to {what} with")
}

/// Units come while the sale is open, and while buyers come.
fn check_top_up(
    sale: &SaleSection,
    top_up: &TopUpSection,
    end_ms: Option<u64>,
    mut wrong: impl FnMut(&str, String),
) {
    let (at_ms, opens_at_ms) = (top_up.at_ms, sale.opens_at_ms);
    if at_ms < opens_at_ms {
        wrong(
            "at_ms",
            format!("{at_ms} is before the sale opens at {opens_at_ms} ms"),
        );
    }
    if let Some(end_ms) = end_ms.filter(|end_ms| at_ms >= *end_ms) {
        wrong(
            "at_ms",
            format!("{at_ms} is after the load's end at {end_ms} ms"),
        );
    }
    let (sku, skus) = (top_up.sku.get(), sale.skus.get());
    if sku > skus {
        wrong("sku", format!("there is no SKU {sku}; sale.skus is {skus}"));
    }
}

pub fn sale(section: &SaleSection, run: &str, shrink: Shrink) -> Sale {
    let sku = |number| Sku {
        id: sku_id(number),
        stock: section.units_per_sku.get(),
    };
    let top_up = |one: &TopUpSection| PlannedTopUp {
        at_ms: shrink.at(one.at_ms),
        sku: sku_id(one.sku.get()),
        units: one.units.get(),
    };
    Sale {
        id: run.to_owned(),
        skus: (1..=section.skus.get()).map(sku).collect(),
        limit_per_user: section.limit_per_user.get(),
        opens_at_ms: shrink.at(section.opens_at_ms),
        top_ups: section.top_ups.iter().map(top_up).collect(),
    }
}

pub fn sku_id(number: u32) -> String {
    format!("sku-{number:02}")
}
