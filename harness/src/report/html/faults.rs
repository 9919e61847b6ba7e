//! The faults with the proof that they bit.

use maud::{Markup, html};

use super::super::ReportInput;
use crate::check::{Level, Recovery};
use crate::faults::FaultEvent;
use crate::figures::{count, ms, percent, us, words};

pub fn section(input: &ReportInput<'_>) -> Markup {
    html! {
        @if !input.evidence.faults.is_empty() {
            section {
                h2 { "Faults" }
                @for fault in &input.evidence.faults { (row(fault, recovery(input, fault))) }
                (levels(&input.judgement.levels))
            }
        }
    }
}

/// How buyers were served before, during and after.
fn levels(levels: &[Level]) -> Markup {
    html! {
        div.scroll { table {
            thead { tr { th { "Faults" } th { "Buys" } th { "Served" } th { "Response p50" } th { "p99" } } }
            tbody {
                @for level in levels {
                    tr {
                        td { (level.spell.name()) }
                        td { (count(level.buys)) }
                        td { (percent(level.served_share)) }
                        td { (us(level.response_us_p50)) }
                        td { (us(level.response_us_p99)) }
                    }
                }
            }
        } }
    }
}

fn recovery<'r>(input: &ReportInput<'r>, fault: &FaultEvent) -> Option<&'r Recovery> {
    input
        .judgement
        .recoveries
        .iter()
        .find(|one| one.kind == fault.kind && one.injected_at_ms == fault.injected_at_ms)
}

fn row(fault: &FaultEvent, recovery: Option<&Recovery>) -> Markup {
    html! {
        article.fault {
            h3 { (words(&fault.kind)) }
            p { (fault.what) }
            dl {
                dt { "Injected" } dd { (ms(fault.injected_at_ms)) " after the first request" }
                dt { "Healed" } dd { (healed(fault)) }
                dt { "Receipt" } dd {
                    @match &fault.receipt {
                        Some(receipt) => (receipt),
                        None => b.bad { "no evidence that it bit" },
                    }
                }
                @if let Some(recovery) = recovery { dt { "Felt by buyers" } dd { (felt(recovery)) } }
                @if let Some(error) = &fault.error { dt { "Error" } dd { b.bad { (error) } } }
            }
        }
    }
}

fn healed(fault: &FaultEvent) -> Markup {
    html! {
        @match fault.healed_at_ms {
            Some(at) => { (ms(at)) " after the first request" },
            None if fault.heals => b.bad { "no" },
            None => "needs none: a change of state, not an outage",
        }
    }
}

fn felt(recovery: &Recovery) -> String {
    let answers = count(recovery.outage_answers);
    match (recovery.outage_answers, recovery.recovery_ms) {
        (0, _) => "not at all".to_owned(),
        (_, Some(took)) => {
            format!(
                "{answers} outage answers, the last {} after the injection",
                ms(took)
            )
        }
        (_, None) => format!("{answers} outage answers, up to the end of the load"),
    }
}
