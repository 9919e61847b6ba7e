//! Every check with its verdict, its figures and its witnesses.

use maud::{Markup, html};

use super::super::{ReportInput, word};
use super::verdict::symbol;
use crate::check::{CheckResult, KeptWitness, Verdict};

pub fn section(input: &ReportInput<'_>) -> Markup {
    html! {
        section {
            h2 { "Checks" }
            div.checks {
                @for check in &input.judgement.checks { (row(check)) }
            }
        }
    }
}

fn row(check: &CheckResult) -> Markup {
    html! {
        article.check id=(format!("{:?}", check.id)) {
            p.badge.(word(check.verdict)) { (symbol(check.verdict)) " " (word(check.verdict)) }
            div {
                h3 { code { (format!("{:?}", check.id)) } " " (check.title) }
                p.detail { (check.detail) }
                @if !check.witnesses.is_empty() { (witnesses(check)) }
            }
        }
    }
}

fn witnesses(check: &CheckResult) -> Markup {
    let number = check.witnesses.len();
    html! {
        details open[check.verdict == Verdict::Fail] {
            summary { (number) @if number == 1 { " witness" } @else { " witnesses" } }
            @for one in &check.witnesses { (witness(one)) }
        }
    }
}

fn witness(one: &KeptWitness) -> Markup {
    let witness = &one.witness;
    html! {
        div.witness {
            p.subject { (one.place.name()) ": " (witness.subject) }
            ol { @for event in &witness.events { li { (event) } } }
        }
    }
}
