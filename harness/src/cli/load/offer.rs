//! From the flags to a load: everything wrong with them at once.

use std::path::Path;

use reqwest::Url;

use super::args::Args;
use super::gate::Gate;
use crate::drill::problems::Problems;
use crate::drill::resolve::{Choices, load_plan};
use crate::load::endpoint::{Endpoint, Trust};
use crate::load::population::Population;
use crate::load::schedule::{Phase, Schedule, Shape};
use crate::load::spec::{Load, LoadSpec, Loop};
use crate::target::template::Variables;
use crate::target::{RequestTemplate, Requests, Target, file};

/// A load that can be offered.
#[derive(Debug)]
pub struct Offer {
    pub spec: LoadSpec,
    pub endpoint: Endpoint,
    pub variables: Variables,
    pub gates: Vec<Gate>,
    url: String,
}

impl Offer {
    /// # Errors
    /// Every flag that is wrong, by its name.
    pub fn new(args: &Args) -> Result<Self, Problems> {
        let mut problems = Problems::default();
        let variables = variables(&args.variables, &mut problems);
        let endpoint = args
            .url
            .as_ref()
            .and_then(|url| endpoint(args, url, &mut problems));
        let spec = match &args.drill {
            Some(drill) => of_drill(drill, args.seed, &mut problems),
            None => of_flags(args, &variables, &mut problems),
        };
        let offer = spec.zip(endpoint).map(|(spec, endpoint)| Self {
            spec,
            endpoint,
            variables,
            gates: args.gates.clone(),
            url: args.url.as_ref().map(Url::to_string).unwrap_or_default(),
        });
        problems.or(offer)
    }

    /// One line: what was offered to whom.
    pub fn about(&self) -> String {
        let load = &self.spec.load;
        let kind = match self.spec.kind {
            Loop::Open => "open loop",
            Loop::Closed => "closed loop",
        };
        format!(
            "{kind} against {}, {} connections, depth {}",
            self.url, load.connections, load.depth
        )
    }
}

fn endpoint(args: &Args, url: &Url, problems: &mut Problems) -> Option<Endpoint> {
    let trust = Trust {
        hosts: args.hosts.clone(),
        authority: args.ca.clone(),
    };
    Endpoint::of_url(url, &trust)
        .map_err(|error| problems.push("URL", error.to_string()))
        .ok()
}

fn variables(written: &[String], problems: &mut Problems) -> Variables {
    let mut variables = Variables::new();
    for one in written {
        match one.split_once('=') {
            Some((name, value)) if !name.is_empty() => {
                variables.insert(name.to_owned(), value.to_owned());
            }
            _ => problems.push("--set", format!("`{one}` sets nothing; write name=value")),
        }
    }
    variables
}

fn of_drill(drill: &Path, seed: u64, problems: &mut Problems) -> Option<LoadSpec> {
    let choices = Choices {
        seed: Some(seed),
        ..Choices::default()
    };
    load_plan(drill, &choices)
        .map(|plan| plan.load_spec())
        .map_err(|error| problems.push("--drill", error.to_string()))
        .ok()
}

fn of_flags(args: &Args, variables: &Variables, problems: &mut Problems) -> Option<LoadSpec> {
    let target = match &args.target {
        Some(path) => file::load(path)
            .map_err(|error| problems.push("--target", error.to_string()))
            .ok(),
        None => Some(plain_target(args, problems)),
    };
    for (flag, value) in [
        ("--connections", u64::from(args.connections)),
        ("--depth", u64::from(args.depth)),
        ("--users", args.users),
    ] {
        if value == 0 {
            problems.push(flag, "0 is too few; at least 1");
        }
    }
    if !(args.rate > 0.0 && args.rate <= 1e6) {
        let message = format!(
            "{} is no rate; expected above 0, at most 1000000 per second",
            args.rate
        );
        problems.push("--rate", message);
    }
    let set = |name: &str| variables.get(name).cloned().unwrap_or_default();
    Some(LoadSpec {
        seed: args.seed,
        sale: set("sale"),
        skus: vec![set("sku")],
        load: Load {
            schedule: schedule(args),
            connections: args.connections,
            depth: args.depth,
            timeout_ms: args.timeout,
            fitted: None,
        },
        kind: if args.closed {
            Loop::Closed
        } else {
            Loop::Open
        },
        population: Population::of(args.users),
        target: target?,
    })
}

/// A closed loop takes the length only.
fn schedule(args: &Args) -> Schedule {
    Schedule::of(vec![Phase {
        name: "load".to_owned(),
        shape: Shape::Constant {
            rate_per_s: if args.closed { 0.0 } else { args.rate },
            duration_ms: args.duration,
        },
    }])
}

/// Any HTTP server: one request, its answers told by the class of their status.
fn plain_target(args: &Args, problems: &mut Problems) -> Target {
    let url = args.url.as_ref();
    let path = url.map(|url| match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    });
    let buy = RequestTemplate {
        method: args.method.clone(),
        path: path.unwrap_or_default(),
        headers: args
            .headers
            .iter()
            .filter_map(|header| split(header, problems))
            .collect(),
        body: body(args, problems),
    };
    Target {
        name: "url".to_owned(),
        requests: Requests {
            buy,
            ..Requests::default()
        },
        ..Target::default()
    }
}

fn split(header: &str, problems: &mut Problems) -> Option<(String, String)> {
    match header.split_once(':') {
        Some((name, value)) if !name.trim().is_empty() => {
            Some((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => {
            problems.push(
                "--header",
                format!("`{header}` is no header; write 'name: value'"),
            );
            None
        }
    }
}

fn body(args: &Args, problems: &mut Problems) -> String {
    let Some(path) = &args.body_file else {
        return args.body.clone();
    };
    std::fs::read_to_string(path).unwrap_or_else(|error| {
        problems.push(
            "--body-file",
            format!("cannot read {}: {error}", path.display()),
        );
        String::new()
    })
}
