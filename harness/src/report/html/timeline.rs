//! Plots over the time of the load, faults marked in all of them. Each is drawn for a wide and for a
//! narrow screen.

use maud::{Markup, PreEscaped, html};

use super::super::panels::{bands, panels, until_s};
use super::super::plot::{Panel, Stroke};
use super::super::{ReportError, ReportInput};
use crate::figures::{ms, words};

const WIDE: (u32, u32) = (1_000, 220);
const NARROW: (u32, u32) = (430, 230);

pub fn section(input: &ReportInput<'_>) -> Result<Markup, ReportError> {
    let evidence = input.evidence;
    let (until_s, bands) = (until_s(evidence), bands(evidence));
    let mut plots = Vec::new();
    for panel in panels(evidence) {
        let wide = panel.svg(WIDE, until_s, &bands)?;
        let narrow = panel.svg(NARROW, until_s, &bands)?;
        plots.push(plot(&panel, wide, narrow));
    }
    Ok(html! {
        section {
            h2 { "How it went" }
            (legend_of_faults(input))
            (top_ups(input))
            @for plot in &plots { (plot) }
            @if plots.is_empty() { p { "No timeline was recorded." } }
        }
    })
}

fn legend_of_faults(input: &ReportInput<'_>) -> Markup {
    html! {
        @if !input.evidence.faults.is_empty() {
            ul.bands {
                @for fault in &input.evidence.faults {
                    li {
                        i.swatch.outage {}
                        b { (words(&fault.kind)) } " at " (ms(fault.injected_at_ms))
                        @if let Some(healed) = fault.healed_at_ms { ", healed at " (ms(healed)) }
                        @else if fault.heals { ", not healed" }
                    }
                }
            }
        }
    }
}

fn top_ups(input: &ReportInput<'_>) -> Markup {
    html! {
        @if !input.evidence.top_ups.is_empty() {
            ul.bands {
                @for one in &input.evidence.top_ups {
                    li { b { "top-up" } " " (one.news()) }
                }
            }
        }
    }
}

fn plot(panel: &Panel, wide: String, narrow: String) -> Markup {
    html! {
        figure {
            figcaption {
                h3 { (panel.title) }
                ul.legend {
                    @for series in &panel.series {
                        li {
                            i.swatch.(series.tint.class()).area[series.stroke == Stroke::Area] {}
                            (series.name)
                        }
                    }
                }
                p.note { (panel.note) }
            }
            div.wide { (PreEscaped(wide)) }
            div.narrow { (PreEscaped(narrow)) }
        }
    }
}
