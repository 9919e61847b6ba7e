//! The journeys in figures: how they ended, and how long each step took.

use maud::{Markup, html};

use super::super::ReportInput;
use crate::figures::{count, us, words};
use crate::journeys::JourneySummary;
use crate::journeys::summary::{StepSummary, Times};

/// Nothing where the plan has no journeys.
pub fn section(input: &ReportInput<'_>) -> Markup {
    html! {
        @if let Some(journeys) = &input.evidence.journeys {
            section {
                h2 { "Journeys beside the load" }
                (whole(journeys))
                (steps(journeys))
                div.columns { (ends(journeys)) }
            }
        }
    }
}

fn whole(journeys: &JourneySummary) -> Markup {
    html! {
        dl {
            dt { "Buyers" } dd { (count(journeys.buyers)) " at the same time, each one journey after the other" }
            dt { "Journeys" } dd { (count(journeys.started)) " started, " (count(journeys.whole())) " went all the way" }
            @if let Some(why) = &journeys.error { dt { "No use" } dd { b.bad { (why) } } }
        }
    }
}

fn steps(journeys: &JourneySummary) -> Markup {
    html! {
        div.scroll { table {
            thead { tr { th { "Step" } th { "requests" } th { "failures" } th { "p50" } th { "p99" } th { "max" } } }
            tbody {
                @for (step, one) in &journeys.steps { (row(step.name(), one)) }
                tr {
                    th { "whole journey" small { " pauses included" } }
                    td { (count(journeys.whole())) } td {} (times(&journeys.whole_us))
                }
            }
        } }
    }
}

fn row(name: &str, one: &StepSummary) -> Markup {
    html! {
        tr {
            th { (name) }
            td { (count(one.requests)) } td { (count(one.failures)) } (times(&one.response_us))
        }
    }
}

fn times(times: &Times) -> Markup {
    html! { td { (us(times.p50)) } td { (us(times.p99)) } td { (us(times.max)) } }
}

fn ends(journeys: &JourneySummary) -> Markup {
    html! {
        table {
            thead { tr { th { "How they ended" } th { "number" } } }
            tbody {
                @for (end, number) in &journeys.ends {
                    tr { th { (words(end.name())) } td { (count(*number)) } }
                }
            }
        }
    }
}
