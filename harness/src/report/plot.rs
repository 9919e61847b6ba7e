//! Draws one panel as SVG: lines and areas over the time of the load, with bands where faults were.
//!
//! Colours in the SVG are keys, not looks: the style sheet gives each its light and dark value.

use plotters::coord::Shift;
use plotters::prelude::*;

use super::ReportError;
use crate::figures::short;

/// What a line shows, by its role; the style sheet holds the colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tint {
    First,
    Second,
    Third,
    Quiet,
}

impl Tint {
    /// Name of the style class of the legend.
    pub fn class(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Second => "second",
            Self::Third => "third",
            Self::Quiet => "quiet",
        }
    }

    fn key(self) -> RGBColor {
        match self {
            Self::First => RGBColor(0x2a, 0x78, 0xd6),
            Self::Second => RGBColor(0xd9, 0x59, 0x26),
            Self::Third => RGBColor(0x1b, 0x95, 0x6a),
            Self::Quiet => RGBColor(0x89, 0x87, 0x81),
        }
    }
}

const INK: RGBColor = RGBColor(0x52, 0x51, 0x4e);
const GRID: RGBColor = RGBColor(0xe1, 0xe0, 0xd9);
const FAULT: RGBColor = RGBColor(0xd0, 0x3b, 0x3b);

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stroke {
    Line,
    Area,
}

/// One line of a panel. A gap in the readings starts a new piece.
#[derive(Debug, Clone)]
pub struct Series {
    pub name: &'static str,
    pub tint: Tint,
    pub stroke: Stroke,
    /// Seconds since the first arrival, value.
    pub pieces: Vec<Vec<(f64, f64)>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    Linear,
    /// Decades; values are microseconds.
    Logarithmic,
}

/// When a fault was there. Without an end it is a moment.
#[derive(Debug, Clone, Copy)]
pub struct Band {
    pub from_s: f64,
    pub to_s: Option<f64>,
}

#[derive(Debug, Clone)]
pub struct Panel {
    pub title: &'static str,
    pub note: &'static str,
    pub scale: Scale,
    pub series: Vec<Series>,
}

type Chart<'c, 's> = ChartContext<
    'c,
    SVGBackend<'s>,
    Cartesian2d<plotters::coord::types::RangedCoordf64, plotters::coord::types::RangedCoordf64>,
>;

impl Panel {
    /// The panel as an SVG element of `width` by `height`, from 0 to `until_s`.
    ///
    /// # Errors
    /// The drawing library fails, which is a bug.
    pub fn svg(
        &self,
        (width, height): (u32, u32),
        until_s: f64,
        bands: &[Band],
    ) -> Result<String, ReportError> {
        let mut out = String::new();
        {
            let area = SVGBackend::with_string(&mut out, (width, height)).into_drawing_area();
            self.draw(&area, until_s, bands)
                .map_err(|error| ReportError::Plot {
                    panel: self.title,
                    reason: error.to_string(),
                })?;
        }
        Ok(out)
    }

    fn draw(
        &self,
        area: &DrawingArea<SVGBackend<'_>, Shift>,
        until_s: f64,
        bands: &[Band],
    ) -> Result<(), Box<dyn std::error::Error>> {
        let (bottom, top) = self.value_range();
        let mut chart = ChartBuilder::on(area)
            .margin_top(10)
            .margin_right(14)
            .x_label_area_size(26)
            .y_label_area_size(52)
            .build_cartesian_2d(0.0..until_s, bottom..top)?;
        draw_bands(&mut chart, bands, (bottom, top), until_s)?;
        self.draw_mesh(&mut chart)?;
        for series in &self.series {
            self.draw_series(&mut chart, series, bottom)?;
        }
        area.present()?;
        Ok(())
    }

    fn draw_mesh(&self, chart: &mut Chart<'_, '_>) -> Result<(), Box<dyn std::error::Error>> {
        let scale = self.scale;
        let label = move |value: &f64| scale.label(*value);
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID)
            .axis_style(GRID)
            .x_labels(8)
            .y_labels(5)
            .label_style(("sans-serif", 15).into_font().color(&INK))
            .x_label_formatter(&|at| format!("{} s", short(*at)))
            .y_label_formatter(&label)
            .draw()?;
        Ok(())
    }

    fn draw_series(
        &self,
        chart: &mut Chart<'_, '_>,
        series: &Series,
        bottom: f64,
    ) -> Result<(), Box<dyn std::error::Error>> {
        let colour = series.tint.key();
        for piece in &series.pieces {
            let points: Vec<(f64, f64)> = piece
                .iter()
                .map(|(at, value)| (*at, self.scale.place(*value)))
                .collect();
            if points.len() < 3 {
                let dots = points
                    .iter()
                    .map(|point| Circle::new(*point, 2, colour.filled()));
                chart.draw_series(dots)?;
            }
            match series.stroke {
                Stroke::Area => {
                    chart.draw_series(AreaSeries::new(points, bottom, colour.mix(0.22)))?;
                }
                Stroke::Line => {
                    chart.draw_series(LineSeries::new(points, colour.stroke_width(2)))?;
                }
            }
        }
        Ok(())
    }

    /// Range of the value axis, with air above.
    fn value_range(&self) -> (f64, f64) {
        let points = self
            .series
            .iter()
            .flat_map(|series| series.pieces.iter().flatten());
        let values: Vec<f64> = points.map(|(_, value)| self.scale.place(*value)).collect();
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        match self.scale {
            _ if values.is_empty() => (0.0, 1.0),
            Scale::Linear => (low.min(0.0) * 1.08, (high * 1.08).max(1.0)),
            Scale::Logarithmic => (low.floor(), high.ceil().max(low.floor() + 1.0)),
        }
    }

    /// There is something to draw.
    pub fn has_points(&self) -> bool {
        self.series
            .iter()
            .any(|series| series.pieces.iter().any(|piece| !piece.is_empty()))
    }
}

impl Scale {
    fn place(self, value: f64) -> f64 {
        match self {
            Self::Linear => value,
            Self::Logarithmic => value.max(1.0).log10(),
        }
    }

    fn label(self, place: f64) -> String {
        match self {
            Self::Linear => short(place),
            Self::Logarithmic if place == place.trunc() => {
                crate::figures::us(10_f64.powf(place).round() as u64).replace(".0 ", " ")
            }
            // Only whole decades are named.
            Self::Logarithmic => String::new(),
        }
    }
}

fn draw_bands(
    chart: &mut Chart<'_, '_>,
    bands: &[Band],
    (bottom, top): (f64, f64),
    until_s: f64,
) -> Result<(), Box<dyn std::error::Error>> {
    for band in bands {
        let from = band.from_s.min(until_s);
        if let Some(to) = band.to_s {
            let corners = [(from, bottom), (to.min(until_s), top)];
            chart.draw_series([Rectangle::new(corners, FAULT.mix(0.12).filled())])?;
        }
        let edge = [(from, bottom), (from, top)];
        chart.draw_series(LineSeries::new(edge, FAULT.stroke_width(1)))?;
    }
    Ok(())
}
