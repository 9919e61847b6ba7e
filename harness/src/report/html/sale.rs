//! What the sale did, in a few figures.

use maud::{Markup, html};

use super::super::ReportInput;
use super::super::figures::{count, ms, signed, words};

/// One figure: what it is, its value, a line of explanation, and whether it is bad news.
struct Figure {
    name: &'static str,
    value: String,
    note: String,
    bad: bool,
}

pub fn section(input: &ReportInput<'_>) -> Markup {
    html! {
        section {
            h2 { "What the sale did" }
            div.figures {
                @for figure in figures(input) {
                    div.figure.bad[figure.bad] {
                        p.name { (figure.name) }
                        p.value { (figure.value) }
                        p.note { (figure.note) }
                    }
                }
            }
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
        let note = "messages delivered again and recognised".to_owned();
        out.push(Figure {
            name: "Redelivered",
            value: count(number),
            note,
            bad: false,
        });
    }
    out
}

fn sold(input: &ReportInput<'_>) -> Figure {
    let tally = &input.judgement.tally;
    let note = match tally.unsold_units {
        0 => "every unit, none twice".to_owned(),
        left if left > 0 => format!("units; {} left", signed(left)),
        over => format!("units: {} more than there were", count(over.unsigned_abs())),
    };
    let value = format!(
        "{} of {}",
        count(tally.sold_units),
        count(tally.stock_units)
    );
    Figure {
        name: "Sold",
        value,
        note,
        bad: tally.unsold_units < 0,
    }
}

fn accepted(input: &ReportInput<'_>) -> Figure {
    let tally = &input.judgement.tally;
    let back = tally.cancelled + tally.expired;
    let note = format!(
        "purchases; {} paid, {} cancelled or expired",
        count(tally.paid),
        count(back)
    );
    Figure {
        name: "Accepted",
        value: count(tally.accepted),
        note,
        bad: false,
    }
}

fn broken(input: &ReportInput<'_>) -> Figure {
    let tally = &input.judgement.tally;
    let reasons = tally.broken_by_reason.iter();
    let named: Vec<String> = reasons
        .map(|(reason, number)| format!("{} {}", count(*number), words(reason)))
        .collect();
    let mut note = "buyers told yes, then no".to_owned();
    if !named.is_empty() {
        note = format!("{note}: {}", named.join(", "));
    }
    if tally.never_granted > 0 {
        note = format!(
            "{note}; {} more settled as never granted",
            count(tally.never_granted)
        );
    }
    let (value, bad) = (count(tally.broken_promises), tally.broken_promises > 0);
    Figure {
        name: "Broken promises",
        value,
        note,
        bad,
    }
}

fn lost(input: &ReportInput<'_>) -> Figure {
    let lost = input.judgement.tally.lost;
    let note = "accepted purchases without an order".to_owned();
    Figure {
        name: "Lost",
        value: count(lost),
        note,
        bad: lost > 0,
    }
}

fn unknown(input: &ReportInput<'_>) -> Figure {
    let tally = &input.judgement.tally;
    let note = format!(
        "attempts without an answer; {} had been applied",
        count(tally.unknown_applied)
    );
    Figure {
        name: "Unknown",
        value: count(tally.unknown_attempts),
        note,
        bad: false,
    }
}

fn recovery(input: &ReportInput<'_>) -> Figure {
    let (value, bad) = match input.judgement.recovery_ms {
        Some(took) => (ms(took), false),
        None => ("not seen".to_owned(), true),
    };
    let note = "from the fault to the last answer that meant an outage".to_owned();
    Figure {
        name: "Recovery",
        value,
        note,
        bad,
    }
}

fn convergence(input: &ReportInput<'_>) -> Figure {
    let (value, bad) = match input.evidence.stores.converged_ms {
        Some(took) => (ms(took), took > input.evidence.plan.expect.converge_ms_max),
        None => ("never".to_owned(), true),
    };
    let max = ms(input.evidence.plan.expect.converge_ms_max);
    let note = format!("until all stores agreed, after load and faults; {max} allowed");
    Figure {
        name: "Convergence",
        value,
        note,
        bad,
    }
}
