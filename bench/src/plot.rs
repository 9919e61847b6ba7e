//! The truth and what each tool says of it, as percentile curves in one SVG.

use plotters::prelude::*;

use crate::result::Comparison;
use crate::tool::Curve;
use crate::truth::Basis;

const SIZE: (u32, u32) = (900, 480);
const INK: RGBColor = RGBColor(0x52, 0x51, 0x4e);
const GRID: RGBColor = RGBColor(0xe1, 0xe0, 0xd9);
const TRUTH: RGBColor = RGBColor(0xc9, 0xc7, 0xc0);
/// One a tool, in the order of the tables.
const TINTS: [RGBColor; 7] = [
    RGBColor(0x2a, 0x78, 0xd6),
    RGBColor(0xd0, 0x3b, 0x3b),
    RGBColor(0xd9, 0x59, 0x26),
    RGBColor(0x1b, 0x95, 0x6a),
    RGBColor(0x8a, 0x4f, 0xc4),
    RGBColor(0xb0, 0x86, 0x1e),
    RGBColor(0x89, 0x87, 0x81),
];
/// From the median on; each step to the right is a tenth of the requests before it.
const FIRST_SHARE: f64 = 0.5;
const LAST_SHARE: f64 = 0.9999;

type Lines = Vec<(String, RGBColor, u32, Vec<(f64, f64)>)>;

/// # Errors
/// The drawing library fails, which is a bug.
pub fn svg(comparison: &Comparison) -> Result<String, String> {
    let mut out = String::new();
    draw(&mut out, &lines(comparison)).map_err(|error| error.to_string())?;
    Ok(out)
}

/// The truth is drawn first and broad, so that a tool that tells it lies on it.
fn lines(comparison: &Comparison) -> Lines {
    let said = comparison
        .tools
        .iter()
        .zip(TINTS)
        .filter_map(|(tool, tint)| Some((tool.name, tint, tool.truth.as_ref()?)));
    let said: Vec<_> = said.collect();
    // Each run has its own truth; they differ by little, and the first on schedule stands for all.
    let truth = said
        .iter()
        .find(|(_, _, said)| said.basis == Basis::Answers)
        .or(said.first())
        .map(|(_, _, said)| ("truth".to_owned(), TRUTH, 9, placed(&said.truth)));
    let tools = said
        .iter()
        .map(|(name, tint, said)| ((*name).to_owned(), *tint, 2, placed(&said.said)));
    truth.into_iter().chain(tools).collect()
}

/// Nines to the right, decades of microseconds upwards.
fn placed(curve: &Curve) -> Vec<(f64, f64)> {
    let points = curve.points().iter();
    let shown = points.filter(|(share, _)| (FIRST_SHARE..=LAST_SHARE).contains(share));
    shown
        .map(|(share, us)| (nines(*share), us.max(1.0).log10()))
        .collect()
}

/// 1 for 90 %, 2 for 99 %.
fn nines(share: f64) -> f64 {
    -(1.0 - share).log10()
}

fn draw(out: &mut String, lines: &Lines) -> Result<(), Box<dyn std::error::Error>> {
    let area = SVGBackend::with_string(out, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let points = || lines.iter().flat_map(|(_, _, _, points)| points);
    let low = points().map(|point| point.1).fold(f64::INFINITY, f64::min);
    let high = points()
        .map(|point| point.1)
        .fold(f64::NEG_INFINITY, f64::max);
    let (low, high) = if low <= high {
        (low.floor(), high.ceil())
    } else {
        (0.0, 1.0)
    };
    let mut chart = ChartBuilder::on(&area)
        .margin(14)
        .margin_right(40)
        .x_label_area_size(40)
        .y_label_area_size(84)
        .build_cartesian_2d(
            nines(FIRST_SHARE)..nines(LAST_SHARE),
            low..high.max(low + 1.0),
        )?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID)
        .axis_style(GRID)
        .label_style(("sans-serif", 15).into_font().color(&INK))
        .x_desc("share of requests")
        .y_desc("response time")
        .x_label_formatter(&|nines| share_label(*nines))
        .y_label_formatter(&|decade| time_label(*decade))
        .draw()?;
    for (name, tint, width, points) in lines {
        let style = tint.stroke_width(*width);
        chart
            .draw_series(LineSeries::new(points.iter().copied(), style))?
            .label(name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], style));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerRight)
        .label_font(("sans-serif", 15).into_font().color(&INK))
        .background_style(WHITE)
        .border_style(GRID)
        .draw()?;
    area.present()?;
    Ok(())
}

/// Only whole nines are named.
fn share_label(nines: f64) -> String {
    if (nines - nines.round()).abs() > 1e-6 {
        return String::new();
    }
    let percent = 100.0 - 100.0 * 10_f64.powf(-nines.round());
    format!("{} %", (percent * 1e4).round() / 1e4)
}

/// Only whole decades are named.
fn time_label(decade: f64) -> String {
    if (decade - decade.round()).abs() > 1e-6 {
        return String::new();
    }
    let us = 10_f64.powf(decade.round());
    match us {
        _ if us < 1e3 => format!("{us} µs"),
        _ if us < 1e6 => format!("{} ms", us / 1e3),
        _ => format!("{} s", us / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::testing::{comparison, said};

    #[test]
    fn labels_name_whole_nines_and_decades() {
        assert_eq!(
            [1.0, 2.0, 3.0, 1.5].map(share_label),
            ["90 %", "99 %", "99.9 %", ""]
        );
        assert_eq!(
            [2.0, 3.0, 6.0, 2.5].map(time_label),
            ["100 µs", "1 ms", "1 s", ""]
        );
    }

    #[test]
    fn truth_and_tools_are_drawn() {
        let figures = [
            ("flashdrill", said(Basis::Answers, 905_000.0, 900_000.0)),
            ("wrk", said(Basis::Model, 1_200.0, 900_000.0)),
        ];
        let svg = svg(&comparison(&[4.0, 5.0], &figures)).unwrap();
        for name in ["truth", "flashdrill", "wrk"] {
            assert!(svg.contains(&format!("{name}\n</text>")), "{name}");
        }
        assert!(
            !svg.contains("oha\n"),
            "a tool that said nothing has no line"
        );
    }

    #[test]
    fn nothing_said_is_an_empty_plot() {
        assert!(svg(&comparison(&[], &[])).unwrap().starts_with("<svg"));
    }
}
