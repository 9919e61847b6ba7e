//! `report.html`: one page, self-contained, for a reader who was not there.

mod alerts;
mod checks;
mod environment;
mod faults;
mod journeys;
mod load;
mod losses;
mod sale;
mod timeline;
mod verdict;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{ReportError, ReportInput, word};

const STYLE: &str = include_str!("style.css");

/// The page.
///
/// # Errors
/// A plot cannot be drawn.
pub fn page(input: &ReportInput<'_>) -> Result<String, ReportError> {
    let plots = timeline::section(input)?;
    let title = format!(
        "{}: {} · Flashdrill",
        word(input.judgement.verdict).to_uppercase(),
        input.evidence.plan.drill
    );
    let body = html! {
        main {
            (verdict::section(input))
            (sale::section(input))
            (plots)
            (checks::section(input))
            (faults::section(input))
            (alerts::section(input))
            (losses::section(input))
            (load::section(input))
            (journeys::section(input))
            (environment::section(input))
        }
        (footer(input))
    };
    Ok(frame(&title, &body))
}

/// A page that needs nothing else.
pub fn frame(title: &str, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body { (body) }
        }
    };
    page.into_string()
}

fn footer(input: &ReportInput<'_>) -> Markup {
    html! {
        footer {
            p {
                "Flashdrill " (env!("CARGO_PKG_VERSION")) " · run " code { (input.run) }
                " · " (input.started_at)
            }
            p {
                "Judge the saved run again: " code { "flashdrill check " (input.run) }
            }
        }
    }
}
