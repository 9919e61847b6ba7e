//! The verdict and its reasons, first of all.

use maud::{Markup, html};

use super::super::{ReportInput, word};
use crate::check::{CheckResult, Verdict};

pub fn section(input: &ReportInput<'_>) -> Markup {
    let plan = &input.evidence.plan;
    let verdict = input.judgement.verdict;
    html! {
        header {
            p.brand { "Flashdrill" span { " · drill report" } }
            h1 { (plan.drill) }
            p.lead { (plan.title) }
            @if let Some(mutant) = input.mutant {
                p.mutant { "Ran against the broken variant " code { (mutant) } ", which this drill must catch." }
            }
        }
        section.verdict.(word(verdict)) aria-label="Verdict" {
            p.word { (symbol(verdict)) " " (word(verdict)) }
            div {
                p.meaning { (meaning(input)) }
                @if !input.judgement.reasons.is_empty() {
                    ul { @for check in deciding(input) { (reason(check)) } }
                }
            }
        }
    }
}

/// A sign beside the word, so that colour is not needed.
pub fn symbol(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "✓",
        Verdict::Fail => "✕",
        Verdict::Inconclusive => "?",
    }
}

fn meaning(input: &ReportInput<'_>) -> String {
    let checks = &input.judgement.checks;
    let failed = checks
        .iter()
        .filter(|check| check.verdict == Verdict::Fail)
        .count();
    match input.judgement.verdict {
        Verdict::Pass => format!(
            "The run was a valid test, and all {} checks hold on the recorded evidence.",
            checks.len()
        ),
        Verdict::Fail => format!(
            "{failed} of {} checks found what must never happen. Each has a witness below.",
            checks.len()
        ),
        Verdict::Inconclusive => {
            "The run decides nothing: it was not a valid test, or evidence is \
             missing. This is no pass."
                .to_owned()
        }
    }
}

/// Failed checks, then doubtful ones.
fn deciding<'r>(input: &ReportInput<'r>) -> Vec<&'r CheckResult> {
    let mut out: Vec<&CheckResult> = input
        .judgement
        .checks
        .iter()
        .filter(|check| check.verdict != Verdict::Pass)
        .collect();
    out.sort_by_key(|check| (std::cmp::Reverse(check.verdict), check.id));
    out
}

fn reason(check: &CheckResult) -> Markup {
    html! {
        li {
            a href={ "#" (format!("{:?}", check.id)) } { (format!("{:?}", check.id)) }
            " " (check.detail)
        }
    }
}
