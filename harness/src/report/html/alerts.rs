//! What the service told whoever is on call.

use maud::{Markup, html};

use super::super::ReportInput;
use crate::figures::moment;
use crate::observe::alerts::Alert;

/// The rest is in `alerts.json`.
const SHOWN_MAX: usize = 20;

pub fn section(input: &ReportInput<'_>) -> Markup {
    let alerts = input.evidence.alerts.as_deref().unwrap_or_default();
    html! {
        @if !alerts.is_empty() {
            section {
                h2 { "Alerts" }
                div.scroll { table {
                    thead { tr { th { "At" } th { "Alert" } th { "About" } } }
                    tbody { @for alert in alerts.iter().take(SHOWN_MAX) { (row(alert)) } }
                } }
                @if alerts.len() > SHOWN_MAX {
                    p { (alerts.len() - SHOWN_MAX) " more in " code { "alerts.json" } "." }
                }
            }
        }
    }
}

fn row(alert: &Alert) -> Markup {
    html! {
        tr {
            td { (moment(alert.at_ms)) }
            td { (alert.name) }
            td { (alert.about) }
        }
    }
}
