//! The fault proxy beside the real Toxiproxy: the same Redis requests at the same rate, past each and through it.
//!
//! Redis and the load are the same process and the same thread for every way. What counts is read from the kernel
//! (CPU) and at the client (latency from the intended time, so that a proxy that falls behind is charged for it).

mod load;
mod servers;
mod table;
mod way;

use std::io;

use serde::Serialize;

use crate::machine::Machine;
use crate::median::median;
use crate::scratch::Scratch;

pub use load::Load;
pub use table::markdown;
pub use way::Way;

use load::Latencies;
use servers::Redis;

/// How long, how often, how fast.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Settings {
    pub load: Load,
    /// Each way is measured this often, in turns, since the machine's mood changes.
    pub repeats: usize,
}

impl Settings {
    pub const FULL: Self = Self {
        load: Load {
            per_s: 40_000,
            connections: 4,
            duration_ms: 8_000,
        },
        repeats: 3,
    };

    /// Seconds. Figures scatter more.
    pub const SHORT: Self = Self {
        load: Load {
            duration_ms: 2_000,
            ..Self::FULL.load
        },
        repeats: 1,
    };
}

/// One run by one way.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Run {
    pub answered: u64,
    /// Of the proxy's process; `None` without one.
    pub cpu_us_per_request: Option<f64>,
    pub p50_us: f64,
    pub p99_us: f64,
}

/// All runs by one way.
#[derive(Debug, Serialize)]
pub struct WayFigures {
    pub name: &'static str,
    /// As the proxy tells it. `None`: it is not installed.
    pub version: Option<String>,
    pub runs: Vec<Run>,
}

#[derive(Debug, Serialize)]
pub struct ProxyComparison {
    pub machine: Machine,
    pub settings: Settings,
    pub ways: Vec<WayFigures>,
}

impl WayFigures {
    /// The median run's figure; `None` without runs, or without the figure.
    fn median(&self, figure: impl Fn(&Run) -> Option<f64>) -> Option<f64> {
        median(self.runs.iter().filter_map(figure).collect())
    }
}

impl ProxyComparison {
    fn way(&self, way: Way) -> Option<&WayFigures> {
        self.ways.iter().find(|figures| figures.name == way.name())
    }

    /// CPU by request of the way.
    pub fn cpu_us(&self, way: Way) -> Option<f64> {
        self.way(way)?.median(|run| run.cpu_us_per_request)
    }

    /// Our CPU by request in units of the real one's.
    pub fn ratio(&self) -> Option<f64> {
        Some(self.cpu_us(Way::BuiltIn)? / self.cpu_us(Way::Toxiproxy)?)
    }

    /// How much later than direct the way's p99 is.
    pub fn added_p99_us(&self, way: Way) -> Option<f64> {
        let p99 = |way| self.way(way)?.median(|run| Some(run.p99_us));
        Some(p99(way)? - p99(Way::Direct)?)
    }
}

/// Measures every way that is there.
///
/// # Errors
/// Redis or a proxy that is installed cannot be started or asked, or an answer is not Redis's.
pub fn compare(settings: Settings) -> io::Result<ProxyComparison> {
    let scratch = Scratch::new("proxy")?;
    let redis = Redis::start(&scratch)?;
    let mut ways: Vec<WayFigures> = Way::ALL.map(inventory).into();
    for turn in 1..=settings.repeats {
        eprintln!("bench: proxies, turn {turn} of {}", settings.repeats);
        for (way, figures) in Way::ALL.iter().zip(&mut ways) {
            if figures.version.is_some() {
                figures
                    .runs
                    .push(run(*way, &redis, &scratch, &settings.load)?);
            }
        }
    }
    Ok(ProxyComparison {
        machine: Machine::here()?,
        settings,
        ways,
    })
}

fn inventory(way: Way) -> WayFigures {
    WayFigures {
        name: way.name(),
        version: way.version(),
        runs: Vec::new(),
    }
}

fn run(way: Way, redis: &Redis, scratch: &Scratch, load: &Load) -> io::Result<Run> {
    let open = way.open(redis.address, scratch)?;
    // What is done once, at the start of connections, is no cost of a request.
    let warm_up = Load {
        duration_ms: load.duration_ms / 10,
        ..*load
    };
    warm_up.run(open.address)?;
    let before_us = open.cpu_us()?;
    let Latencies { answered, us } = load.run(open.address)?;
    let after_us = open.cpu_us()?;
    let cpu_us = before_us
        .zip(after_us)
        .map(|(before, after)| after - before);
    Ok(Run {
        answered,
        cpu_us_per_request: cpu_us.map(|us| us / answered as f64),
        p50_us: us.value_at_quantile(0.5) as f64,
        p99_us: us.value_at_quantile(0.99) as f64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Direct, ours, and Toxiproxy, as (CPU, p99) of each run.
    fn comparison(ways: [&[(f64, f64)]; 3]) -> ProxyComparison {
        let names = [Way::Direct, Way::BuiltIn, Way::Toxiproxy];
        let figures = names.iter().zip(ways).map(|(way, runs)| WayFigures {
            name: way.name(),
            version: Some("1".into()),
            runs: runs
                .iter()
                .map(|(cpu_us, p99_us)| Run {
                    answered: 1,
                    cpu_us_per_request: (*way != Way::Direct).then_some(*cpu_us),
                    p50_us: 1.0,
                    p99_us: *p99_us,
                })
                .collect(),
        });
        ProxyComparison {
            machine: Machine {
                cpu: "Some CPU".into(),
                kernel: "6.1".into(),
                cores: 2,
                pins: None,
            },
            settings: Settings::FULL,
            ways: figures.collect(),
        }
    }

    #[test]
    fn medians_are_compared() {
        let direct = [(0.0, 100.0), (0.0, 110.0), (0.0, 900.0)];
        let ours = [(2.0, 150.0), (9.0, 160.0), (3.0, 170.0)];
        let real = [(6.0, 300.0), (5.0, 310.0), (7.0, 320.0)];
        let found = comparison([&direct, &ours, &real]);
        assert_eq!(found.ratio(), Some(0.5));
        assert_eq!(found.added_p99_us(Way::BuiltIn), Some(50.0));
        let page = markdown(&found);
        assert!(
            page.contains("OK    CPU per request < 1 of Toxiproxy: 0.50"),
            "{page}"
        );
    }

    #[test]
    fn a_missing_toxiproxy_is_no_success() {
        let found = comparison([&[(0.0, 1.0)], &[(2.0, 2.0)], &[]]);
        assert_eq!(found.ratio(), None);
        let page = markdown(&found);
        assert!(
            page.contains("-     CPU per request < 1 of Toxiproxy: not measured"),
            "{page}"
        );
    }
}
