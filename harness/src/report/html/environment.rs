//! Where it ran, on what, and how to run it again.

use maud::{Markup, html};

use super::super::ReportInput;
use crate::figures::{count, ms};

pub fn section(input: &ReportInput<'_>) -> Markup {
    let plan = &input.evidence.plan;
    html! {
        section {
            h2 { "Environment" }
            div.columns {
                dl {
                    dt { "Target" } dd { (plan.target.name) }
                    dt { "Sale" } dd { (sale(input)) }
                    dt { "Seed" } dd { code { (plan.seed) } }
                    @if !plan.controls.is_empty() { dt { "Controls" } dd { (plan.controls.join(", ")) } }
                    @for (name, value) in input.environment { dt { (name) } dd { (value) } }
                }
                (cpu(input))
            }
            (counters(input))
        }
    }
}

fn sale(input: &ReportInput<'_>) -> String {
    let sale = &input.evidence.plan.sale;
    let units = count(input.judgement.tally.stock_units);
    format!(
        "{} SKUs, {units} units, at most {} per buyer",
        sale.skus.len(),
        sale.limit_per_user
    )
}

/// CPU used between the first and the last sample.
fn cpu(input: &ReportInput<'_>) -> Markup {
    let samples = &input.evidence.samples;
    let ends = samples.first().zip(samples.last());
    let used: Vec<(&str, u64)> = ends.map_or_else(Vec::new, |(first, last)| {
        let since = |name: &String| first.cpu_ms.get(name).copied().unwrap_or(0);
        let each = last.cpu_ms.iter();
        each.map(|(name, ms)| (name.as_str(), ms.saturating_sub(since(name))))
            .collect()
    });
    html! {
        @if !used.is_empty() {
            table {
                thead { tr { th { "CPU during the run" } th { "used" } } }
                tbody {
                    @for (name, used) in used { tr { th { (name) } td { (ms(used)) } } }
                    tr { th { "load generator" } td { (ms(input.evidence.load.generator_cpu_ms)) } }
                }
            }
        }
    }
}

fn counters(input: &ReportInput<'_>) -> Markup {
    let counters = &input.evidence.stores.end.counters;
    html! {
        @if !counters.is_empty() {
            details {
                summary { "Counters of the service at the end" }
                table { tbody {
                    @for (name, value) in counters {
                        tr { th { (name.replace('_', " ")) } td { (count(value.max(0.0) as u64)) } }
                    }
                } }
            }
        }
    }
}
