//! What each layer lost, what it may have lost, and the configuration that decides it.

use maud::{Markup, html};

use super::super::ReportInput;
use crate::check::Loss;
use crate::figures::count;

pub fn section(input: &ReportInput<'_>) -> Markup {
    html! {
        section {
            h2 { "Losses: seen and allowed" }
            div.scroll { table {
                thead { tr { th { "Layer" } th { "Lost" } th { "At most" } th { "Because" } th { "In force" } } }
                tbody { @for loss in &input.judgement.losses { (row(loss)) } }
            } }
        }
    }
}

fn row(loss: &Loss) -> Markup {
    html! {
        tr {
            td { (loss.layer.name()) }
            td { (count(loss.seen)) }
            td { (count(loss.allowed)) }
            td { (loss.because) }
            td { code { (loss.in_force.join(", ")) } }
        }
    }
}
