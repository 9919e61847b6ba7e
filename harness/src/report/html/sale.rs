//! What the sale did, in a few figures.

use maud::{Markup, html};

use super::super::ReportInput;
use crate::figures::{count, ms, signed, words};

/// One figure: what it is, its value, a line of explanation.
struct Figure {
    name: &'static str,
    value: String,
    /// What the value is measured against, `of 4,000`; may be empty.
    of: String,
    note: String,
    is_bad: bool,
}

impl Figure {
    fn new(name: &'static str, value: String, note: impl Into<String>) -> Self {
        Self {
            name,
            value,
            of: String::new(),
            note: note.into(),
            is_bad: false,
        }
    }

    fn bad_if(self, is_bad: bool) -> Self {
        Self { is_bad, ..self }
    }

    fn markup(&self) -> Markup {
        html! {
            div.figure.bad[self.is_bad] {
                p.name { (self.name) }
                p.value {
                    (self.value)
                    @if !self.of.is_empty() { " " small { (self.of) } }
                }
                p.note { (self.note) }
            }
        }
    }
}

pub fn section(input: &ReportInput<'_>) -> Markup {
    html! {
        section {
            h2 { "What the sale did" }
            div.figures { @for figure in figures(input) { (figure.markup()) } }
        }
    }
}

fn figures(input: &ReportInput<'_>) -> Vec<Figure> {
    let mut out = vec![
        sold(input),
        accepted(input),
        broken(input),
        lost(input),
        unknown(input),
    ];
    if !input.evidence.faults.is_empty() {
        out.push(recovery(input));
    }
    out.push(convergence(input));
    if let Some(number) = input.judgement.tally.redelivered {
        let note = "messages delivered again and recognised";
        out.push(Figure::new("Redelivered", count(number), note));
    }
    out
}

fn sold(input: &ReportInput<'_>) -> Figure {
    let tally = &input.judgement.tally;
    let mut note = match tally.unsold_units {
        0 => "units, every one in a live order".to_owned(),
        left if left > 0 => format!("units in live orders; {} left", signed(left)),
        over => format!("units: {} more than there were", count(over.unsigned_abs())),
    };
    if input.evidence.last_call.is_some() {
        let late = count(tally.last_call_units);
        note = format!("{note}; {late} of them at the last call, after the load");
    }
    let figure = Figure::new("Sold", count(tally.sold_units), note).bad_if(tally.unsold_units < 0);
    Figure {
        of: format!("of {}", count(tally.stock_units)),
        ..figure
    }
}

fn accepted(input: &ReportInput<'_>) -> Figure {
    let tally = &input.judgement.tally;
    let back = count(tally.cancelled + tally.expired);
    let note = format!(
        "purchases; {} paid, {back} cancelled or expired",
        count(tally.paid)
    );
    Figure::new("Accepted", count(tally.accepted), note)
}

fn broken(input: &ReportInput<'_>) -> Figure {
    let tally = &input.judgement.tally;
    let by_reason = tally.broken_by_reason.iter();
    let named: Vec<String> = by_reason
        .map(|(reason, number)| format!("{} {}", count(*number), words(reason)))
        .collect();
    let mut note = "buyers were told yes, then no".to_owned();
    if !named.is_empty() {
        note = format!("{note}: {}", named.join(", "));
    }
    if tally.never_granted > 0 {
        note = format!(
            "{note}; {} more settled as never granted",
            count(tally.never_granted)
        );
    }
    let promises = tally.broken_promises;
    Figure::new("Broken promises", count(promises), note).bad_if(promises > 0)
}

fn lost(input: &ReportInput<'_>) -> Figure {
    let lost = input.judgement.tally.lost;
    Figure::new("Lost", count(lost), "accepted purchases without an order").bad_if(lost > 0)
}

fn unknown(input: &ReportInput<'_>) -> Figure {
    let tally = &input.judgement.tally;
    let applied = count(tally.unknown_applied);
    let note = format!("attempts without a clear answer; {applied} purchases had been applied");
    Figure::new("Unknown", count(tally.unknown_attempts), note)
}

fn recovery(input: &ReportInput<'_>) -> Figure {
    let note = "from the fault to the last answer that meant an outage";
    match input.judgement.recovery_ms {
        Some(took) => Figure::new("Recovery", ms(took), note),
        None => Figure::new("Recovery", "not seen".to_owned(), note).bad_if(true),
    }
}

fn convergence(input: &ReportInput<'_>) -> Figure {
    let max = input.evidence.plan.expect.converge_ms_max;
    let note = format!(
        "until all stores agreed, after load and faults; {} allowed",
        ms(max)
    );
    match input.evidence.stores.converged_ms {
        Some(took) => Figure::new("Convergence", ms(took), note).bad_if(took > max),
        None => Figure::new("Convergence", "never".to_owned(), note).bad_if(true),
    }
}
