//! The figures of one comparison, as saved in `bench.json`.

use serde::Serialize;

use crate::machine::Machine;
use crate::measure::Settings;
use crate::request::Requests;
use crate::tool::Curve;
use crate::truth::Basis;

/// Everything that was measured.
#[derive(Debug, Serialize)]
pub struct Comparison {
    pub machine: Machine,
    pub settings: Settings,
    /// A lone request on the idle server.
    pub round_trip_us: f64,
    pub tools: Vec<ToolFigures>,
}

impl Comparison {
    pub fn tool(&self, name: &str) -> Option<&ToolFigures> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// Several tools' cost of the same work, in units of this tool's.
    pub fn ratio(&self, part: &str, whole: &str, work: Work) -> Option<f64> {
        let cost = |name| Some(self.tool(name)?.cost(work)?.cpu_us_per_request);
        Some(cost(part)? / cost(whole)?)
    }
}

/// One tool's figures; None where it has no such mode.
#[derive(Debug, Default, Serialize)]
pub struct ToolFigures {
    pub name: &'static str,
    /// Its version, or why it is not here.
    pub installed: Installed,
    pub closed: Costs,
    pub paced: Option<Cost>,
    pub pipelined: Costs,
    pub highest: Option<Highest>,
    pub truth: Option<Said>,
}

impl ToolFigures {
    pub fn cost(&self, work: Work) -> Option<&Cost> {
        match work {
            Work::Closed(Requests::Same) => self.closed.same.as_ref(),
            Work::Closed(Requests::Own) => self.closed.own.as_ref(),
            Work::Paced => self.paced.as_ref(),
            Work::Pipelined(Requests::Same) => self.pipelined.same.as_ref(),
            Work::Pipelined(Requests::Own) => self.pipelined.own.as_ref(),
        }
    }

    pub fn set_cost(&mut self, work: Work, cost: Cost) {
        let slot = match work {
            Work::Closed(Requests::Same) => &mut self.closed.same,
            Work::Closed(Requests::Own) => &mut self.closed.own,
            Work::Paced => &mut self.paced,
            Work::Pipelined(Requests::Same) => &mut self.pipelined.same,
            Work::Pipelined(Requests::Own) => &mut self.pipelined.own,
        };
        *slot = Some(cost);
    }
}

/// The cost of the same requests, and of requests that each have their own user.
#[derive(Debug, Default, Serialize)]
pub struct Costs {
    pub same: Option<Cost>,
    pub own: Option<Cost>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Installed {
    Version(String),
    Absent(&'static str),
}

impl Default for Installed {
    fn default() -> Self {
        Self::Absent("")
    }
}

/// The work whose cost is compared. Paced requests are the same ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    Closed(Requests),
    Paced,
    Pipelined(Requests),
}

impl Work {
    pub const ALL: [Self; 5] = [
        Self::Closed(Requests::Same),
        Self::Closed(Requests::Own),
        Self::Paced,
        Self::Pipelined(Requests::Same),
        Self::Pipelined(Requests::Own),
    ];
}

/// What one tool's requests cost. Medians of the repeats.
#[derive(Debug, Clone, Serialize)]
pub struct Cost {
    /// User and system time of the tool's processes, by the requests that the server answered.
    pub cpu_us_per_request: f64,
    pub answered_per_s: f64,
    /// The CPU figure of each repeat.
    pub repeats: Vec<f64>,
    pub command: String,
}

/// The highest rate of the ladder that was held.
#[derive(Debug, Clone, Serialize)]
pub struct Highest {
    /// None: not even the lowest step.
    pub held_per_s: Option<u64>,
    pub steps: Vec<Step>,
}

#[derive(Debug, Clone, Serialize)]
pub struct Step {
    pub per_s: u64,
    /// Of the arrivals, those answered by the end of the schedule.
    pub answered_share: f64,
    /// Meant to arrive until answered, as the server saw it; None when the schedule was not kept.
    pub wait_us_p99: Option<f64>,
    pub is_held: bool,
}

/// What a tool said of a run with freezes, and what was true.
#[derive(Debug, Clone, Serialize)]
pub struct Said {
    pub basis: Basis,
    pub answered: usize,
    pub p50: Figure,
    pub p99: Figure,
    pub p999: Figure,
    pub said: Curve,
    pub truth: Curve,
    /// p99 of the model by p99 of the answers, where both can be had: how far the model can be trusted.
    pub model_by_answers_p99: Option<f64>,
    pub command: String,
}

/// One percentile, microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Figure {
    pub said_us: f64,
    pub true_us: f64,
}

impl Figure {
    /// 0.1 is ten per cent too much.
    pub fn error(self) -> f64 {
        (self.said_us - self.true_us) / self.true_us
    }

    pub fn off_us(self) -> f64 {
        (self.said_us - self.true_us).abs()
    }
}

#[cfg(test)]
pub mod testing {
    use super::*;
    use crate::machine::Pins;
    use crate::tool::ALL;

    /// The tools that are here: the first ones of the list that have a cost, of the same requests in a closed loop.
    pub fn comparison(closed_us: &[f64], said: &[(&'static str, Said)]) -> Comparison {
        const ORDER: [&str; 4] = ["flashdrill", "wrk", "oha", "vegeta"];
        let tools = ALL.iter().map(|tool| {
            let at = ORDER.iter().position(|name| *name == tool.name());
            let cost = at.and_then(|at| closed_us.get(at)).map(|us| cost(*us));
            ToolFigures {
                name: tool.name(),
                installed: match &cost {
                    Some(_) => Installed::Version("1.2".into()),
                    None => Installed::Absent("not available here"),
                },
                closed: Costs {
                    same: cost,
                    own: None,
                },
                truth: said
                    .iter()
                    .find(|(name, _)| *name == tool.name())
                    .map(|(_, said)| said.clone()),
                ..ToolFigures::default()
            }
        });
        Comparison {
            machine: Machine {
                cpu: "Some CPU".into(),
                kernel: "6.1".into(),
                cores: 2,
                pins: Some(Pins { server: 0, tool: 1 }),
            },
            settings: Settings::FULL,
            round_trip_us: 40.0,
            tools: tools.collect(),
        }
    }

    /// What these tools' work costs beside that.
    pub fn set(comparison: &mut Comparison, work: Work, costs_us: &[(&str, f64)]) {
        for tool in &mut comparison.tools {
            let found = costs_us.iter().find(|(name, _)| *name == tool.name);
            if let Some((_, us)) = found {
                tool.set_cost(work, cost(*us));
            }
        }
    }

    fn cost(cpu_us_per_request: f64) -> Cost {
        Cost {
            cpu_us_per_request,
            answered_per_s: 50_000.0,
            repeats: vec![cpu_us_per_request, cpu_us_per_request + 1.0],
            command: "tool".into(),
        }
    }

    pub fn said(basis: Basis, said_us: f64, true_us: f64) -> Said {
        let figure = Figure { said_us, true_us };
        let curve = |us| Curve::new(vec![(0.5, 100.0), (0.99, us), (0.999, us)]);
        Said {
            basis,
            answered: 100_000,
            p50: figure,
            p99: figure,
            p999: figure,
            said: curve(said_us),
            truth: curve(true_us),
            model_by_answers_p99: Some(1.0),
            command: "tool".into(),
        }
    }
}
