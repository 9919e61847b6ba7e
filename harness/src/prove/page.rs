//! `prove.html`: the table of a proof, each row with a link to the report of its run.

use maud::{Markup, html};

use super::matrix::{Matrix, Row};
use crate::report::{self, word};

pub fn page(matrix: &Matrix) -> String {
    let verdict = word(matrix.verdict());
    let body = html! {
        main {
            section {
                h1 { "Drills against mutants: " (verdict.to_uppercase()) }
                p {
                    "Each drill must pass on the service as it is, and fail on every broken variant by the check that is named for it."
                }
                @if let Some(missing) = matrix.missing() { p.bad { (missing) } }
                div.scroll { table {
                    thead { tr { th { "Drill" } th { "Mutant" } th { "Must fail" } th { "Result" } th { "Failed checks" } th { "Run" } } }
                    tbody { @for one in &matrix.rows { (row(one)) } }
                } }
            }
        }
    };
    report::frame("Drills against mutants", &body)
}

fn row(row: &Row) -> Markup {
    let survival = row.survival();
    html! {
        tr {
            td { (row.drill) }
            td { code { (row.mutant_name()) } }
            td { (row.must_fail()) }
            td { span.badge.(word(survival.verdict())) { (survival.words()) } }
            td { (row.failed_checks()) }
            td { a href=(format!("{}/report.html", row.run)) { (row.run) } }
        }
    }
}
