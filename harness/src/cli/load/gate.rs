//! What a load's figures must hold to, as written on the command line: `response_p99<=50ms`.

use std::fmt;
use std::str::FromStr;

use crate::figures::{percent, rate, us};
use crate::load::summary::{LoadSummary, Percentiles};

/// One bound.
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    text: String,
    figure: Figure,
    bound: Bound,
    /// Microseconds, a share, or per second.
    limit: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bound {
    Below,
    AtMost,
    Above,
    AtLeast,
}

/// A figure that can be bounded.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Figure {
    Time(Time, Quantile),
    SentShare,
    Share(&'static str),
    SentPerS,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Time {
    Response,
    Service,
    Lag,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quantile {
    P50,
    P90,
    P99,
    P999,
    Max,
}

const BOUNDS: [(&str, Bound); 4] = [
    ("<=", Bound::AtMost),
    (">=", Bound::AtLeast),
    ("<", Bound::Below),
    (">", Bound::Above),
];
const FIGURES: &str = "response_, service_ or lag_ with p50, p90, p99, p999 or max; sent_share, accepted_share, refused_share, unknown_share; sent_per_s";

impl FromStr for Gate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("expected FIGURE<=LIMIT, such as response_p99<=50ms; figures: {FIGURES}");
        let (at, sign, bound) = BOUNDS
            .iter()
            .find_map(|(sign, bound)| Some((text.find(sign)?, sign, *bound)))
            .ok_or_else(wrong)?;
        let (name, limit) = (text[..at].trim(), text[at + sign.len()..].trim());
        let figure = Figure::named(name).ok_or_else(|| format!("no figure `{name}`; {FIGURES}"))?;
        Ok(Self {
            text: text.to_owned(),
            figure,
            bound,
            limit: figure.limit(limit)?,
        })
    }
}

impl Gate {
    /// Whether it holds, and the value seen.
    pub fn check(&self, summary: &LoadSummary) -> (bool, String) {
        let value = self.figure.value(summary);
        let holds = match self.bound {
            Bound::Below => value < self.limit,
            Bound::AtMost => value <= self.limit,
            Bound::Above => value > self.limit,
            Bound::AtLeast => value >= self.limit,
        };
        (holds, self.figure.shown(value))
    }
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Figure {
    fn named(name: &str) -> Option<Self> {
        match name {
            "sent_share" => return Some(Self::SentShare),
            "accepted_share" => return Some(Self::Share("accepted")),
            "refused_share" => return Some(Self::Share("refused")),
            "unknown_share" => return Some(Self::Share("unknown")),
            "sent_per_s" => return Some(Self::SentPerS),
            _ => {}
        }
        let (time, quantile) = name.split_once('_')?;
        let time = match time {
            "response" => Time::Response,
            "service" => Time::Service,
            "lag" => Time::Lag,
            _ => return None,
        };
        let quantile = match quantile {
            "p50" => Quantile::P50,
            "p90" => Quantile::P90,
            "p99" => Quantile::P99,
            "p999" => Quantile::P999,
            "max" => Quantile::Max,
            _ => return None,
        };
        Some(Self::Time(time, quantile))
    }

    fn limit(self, text: &str) -> Result<f64, String> {
        let number = |text: &str| text.parse::<f64>().ok().filter(|value| *value >= 0.0);
        match self {
            Self::Time(..) => text
                .parse::<jiff::SignedDuration>()
                .ok()
                .map(|limit| limit.as_secs_f64() * 1e6)
                .filter(|limit| *limit >= 0.0)
                .ok_or_else(|| format!("`{text}` is no time; write 500us, 50ms or 1s")),
            Self::SentShare | Self::Share(_) => match text.strip_suffix('%') {
                // 99.9 / 100 is a little more than 0.999.
                Some(percent) => number(percent.trim()).map(|value| (value * 1e9).round() / 1e11),
                None => number(text),
            }
            .filter(|share| *share <= 1.0)
            .ok_or_else(|| format!("`{text}` is no share; write 0.999 or 99.9%")),
            Self::SentPerS => number(text).ok_or_else(|| format!("`{text}` is no rate")),
        }
    }

    fn value(self, summary: &LoadSummary) -> f64 {
        match self {
            Self::Time(time, quantile) => quantile.of(time.of(summary)) as f64,
            Self::SentShare => summary.sent_share,
            Self::SentPerS => summary.sent_per_s,
            Self::Share(outcome) => {
                let ended: u64 = summary.outcomes.values().sum();
                let of = |name: &&String| name.split(':').next() == Some(outcome);
                let those: u64 = summary
                    .outcomes
                    .iter()
                    .filter(|(name, _)| of(name))
                    .map(|(_, n)| n)
                    .sum();
                those as f64 / ended.max(1) as f64
            }
        }
    }

    fn shown(self, value: f64) -> String {
        match self {
            Self::Time(..) => us(value as u64),
            Self::SentShare | Self::Share(_) => percent(value),
            Self::SentPerS => format!("{}/s", rate(value)),
        }
    }
}

impl Time {
    fn of(self, summary: &LoadSummary) -> &Percentiles {
        match self {
            Self::Response => &summary.response_us,
            Self::Service => &summary.service_us,
            Self::Lag => &summary.schedule_lag_us,
        }
    }
}

impl Quantile {
    fn of(self, times: &Percentiles) -> u64 {
        match self {
            Self::P50 => times.p50,
            Self::P90 => times.p90,
            Self::P99 => times.p99,
            Self::P999 => times.p999,
            Self::Max => times.max,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary() -> LoadSummary {
        LoadSummary {
            sent_share: 0.999,
            sent_per_s: 5_000.0,
            response_us: Percentiles {
                p99: 50_000,
                ..Percentiles::default()
            },
            outcomes: [
                ("accepted".to_owned(), 90),
                ("refused:x".to_owned(), 9),
                ("unknown:y".to_owned(), 1),
            ]
            .into(),
            ..LoadSummary::default()
        }
    }

    #[test]
    fn bounds_hold_or_do_not() {
        for (text, holds) in [
            ("response_p99<=50ms", true),
            ("response_p99 < 50ms", false),
            ("response_p99<=49.9ms", false),
            ("response_p50<1us", true),
            ("sent_share>=99.9%", true),
            ("sent_share > 0.999", false),
            ("unknown_share<=1%", true),
            ("unknown_share<1%", false),
            ("refused_share<=0.09", true),
            ("accepted_share>=0.9", true),
            ("sent_per_s>4999", true),
        ] {
            let gate: Gate = text
                .parse()
                .unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(gate.check(&summary()).0, holds, "{text}");
        }
    }

    #[test]
    fn what_is_no_gate_says_what_would_be() {
        for (text, named) in [
            ("response_p99", "such as response_p99<=50ms"),
            ("p99<=5ms", "no figure `p99`"),
            ("response_p98<=5ms", "no figure `response_p98`"),
            ("response_p99<=5", "`5` is no time"),
            ("unknown_share<=150%", "no share"),
            ("sent_per_s>many", "no rate"),
        ] {
            let error = text.parse::<Gate>().unwrap_err();
            assert!(error.contains(named), "{text}: {error}");
        }
    }
}
