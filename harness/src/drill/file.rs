//! A drill file as written. Unknown keys are refused; every mistake is reported, not the first only.

use std::path::{Path, PathBuf};

use deserr::Deserr;

use super::journeys::JourneysSection;
use super::problems::Problems;
use super::range::{Count, Rate, Share};
use crate::check::CheckId;

/// The sections of a drill file; a section with mistakes is absent and its mistakes are listed.
#[derive(Debug, Default)]
pub struct DrillFile {
    pub about: Option<About>,
    pub sale: Option<SaleSection>,
    pub load: Option<LoadSection>,
    pub population: Option<PopulationSection>,
    pub journeys: Option<JourneysSection>,
    pub faults: Option<Vec<FaultSection>>,
    pub expect: Option<ExpectSection>,
    pub mutants: Option<Vec<MutantSection>>,
    pub short: Option<ShortSection>,
}

/// The keys outside any table.
#[derive(Debug, Deserr)]
#[deserr(deny_unknown_fields, error = Problems)]
pub struct About {
    /// One sentence: what is broken, what must hold.
    pub title: String,
    /// Ids of the controls that the drill proves.
    pub controls: Vec<String>,
    /// Name of a file in `targets/`, without its ending.
    #[deserr(default = "flashsale".to_owned())]
    pub target: String,
    #[deserr(default)]
    pub seed: Option<u64>,
}

#[derive(Debug, Deserr)]
#[deserr(deny_unknown_fields, error = Problems)]
pub struct SaleSection {
    /// Number of SKUs; they are named `sku-01`, `sku-02`, ...
    pub skus: Count,
    pub units_per_sku: Count,
    #[deserr(default = Count::new(1).expect("1 is in range"))]
    pub limit_per_user: Count,
}

#[derive(Debug, Deserr)]
#[deserr(deny_unknown_fields, error = Problems)]
pub struct LoadSection {
    pub phases: Vec<PhaseSection>,
    pub connections: Count,
    #[deserr(default = Count::new(1).expect("1 is in range"))]
    pub depth: Count,
    #[deserr(default = Count::new(10_000).expect("10000 is in range"))]
    pub timeout_ms: Count,
}

#[derive(Debug, Clone, Deserr)]
#[deserr(tag = "shape", rename_all = lowercase, deny_unknown_fields, error = Problems)]
pub enum PhaseSection {
    Constant {
        name: String,
        rate_per_s: Rate,
        duration_ms: Count,
    },
    Ramp {
        name: String,
        from_per_s: Rate,
        to_per_s: Rate,
        duration_ms: Count,
    },
    Spike {
        name: String,
        base_per_s: Rate,
        peak_per_s: Rate,
        peak_at_ms: u64,
        peak_ms: Count,
        duration_ms: Count,
    },
}

#[derive(Debug, Deserr)]
#[deserr(deny_unknown_fields, error = Problems)]
pub struct PopulationSection {
    pub users: Count,
    #[deserr(default = Count::new(1).expect("1 is in range"))]
    pub quantity: Count,
    #[deserr(default = Share::new(0.0).expect("0 is a share"))]
    pub duplicate_share: Share,
    #[deserr(default = Share::new(0.0).expect("0 is a share"))]
    pub pay_share: Share,
    #[deserr(default = Share::new(0.0).expect("0 is a share"))]
    pub cancel_share: Share,
    #[deserr(default = Share::new(0.0).expect("0 is a share"))]
    pub status_share: Share,
    #[deserr(default = Count::new(1_000).expect("1000 is in range"))]
    pub follow_up_after_ms: Count,
}

#[derive(Debug, Clone, Deserr)]
#[deserr(tag = "kind", deny_unknown_fields, error = Problems)]
pub enum FaultSection {
    #[deserr(rename = "redis_primary_kill")]
    RedisPrimaryKill {
        at_ms: u64,
        /// Number of the SKU whose primary dies, from 1.
        sku: Count,
        #[deserr(default = 500)]
        cut_replication_ms: u64,
        restart_after_ms: Count,
    },
    #[deserr(rename = "broker_kill")]
    BrokerKill {
        at_ms: u64,
        #[deserr(default = 0)]
        cut_requests_ms: u64,
        restart_after_ms: Count,
    },
    #[deserr(rename = "cache_stock_raise")]
    CacheStockRaise {
        at_ms: u64,
        sku: Count,
        units: Count,
    },
}

#[derive(Debug, Deserr)]
#[deserr(deny_unknown_fields, error = Problems)]
pub struct ExpectSection {
    pub checks: Vec<CheckId>,
    #[deserr(default = Share::new(0.99).expect("0.99 is a share"))]
    pub sent_share_min: Share,
    #[deserr(default = Count::new(250_000).expect("250000 is in range"))]
    pub schedule_lag_us_p99_max: Count,
    #[deserr(default = Count::new(30_000).expect("30000 is in range"))]
    pub converge_ms_max: Count,
    #[deserr(default = true)]
    pub sell_out: bool,
}

#[derive(Debug, Deserr)]
#[deserr(deny_unknown_fields, error = Problems)]
pub struct MutantSection {
    pub name: String,
    pub check: CheckId,
}

/// How `--short` shrinks the drill: shares of the rate and of the duration of each phase.
#[derive(Debug, Deserr)]
#[deserr(deny_unknown_fields, error = Problems)]
pub struct ShortSection {
    pub rate_share: Share,
    pub duration_share: Share,
}

/// A file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("cannot read {path}: {source}; `flashdrill drill list` shows the drills there are")]
    Read {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{path}: {} problem(s){problems}", problems.0.len())]
    Wrong { path: PathBuf, problems: Problems },
}

/// Reads a TOML file as a map of JSON values, which is what the deserializer walks.
///
/// # Errors
/// The file cannot be read, or is not TOML (with line and column).
pub fn read_toml(path: &Path) -> Result<serde_json::Map<String, serde_json::Value>, FileError> {
    let text = std::fs::read_to_string(path).map_err(|source| FileError::Read {
        path: path.to_owned(),
        source,
    })?;
    toml::from_str(&text).map_err(|error| {
        let mut problems = Problems::default();
        problems.push("", format!("not TOML: {}", error.to_string().trim_end()));
        FileError::Wrong {
            path: path.to_owned(),
            problems,
        }
    })
}

impl DrillFile {
    /// Takes the sections out of a parsed file; `problems` gets every mistake.
    pub fn from_map(
        mut map: serde_json::Map<String, serde_json::Value>,
        problems: &mut Problems,
    ) -> Self {
        let none = || serde_json::Value::Array(Vec::new());
        map.entry("faults").or_insert_with(none);
        map.entry("mutants").or_insert_with(none);
        Self {
            sale: section(&mut map, "sale", problems),
            load: section(&mut map, "load", problems),
            population: section(&mut map, "population", problems),
            faults: section(&mut map, "faults", problems),
            expect: section(&mut map, "expect", problems),
            mutants: section(&mut map, "mutants", problems),
            journeys: optional(&mut map, "journeys", problems),
            short: optional(&mut map, "short", problems),
            about: whole(serde_json::Value::Object(map), "", problems),
        }
    }
}

/// A section that may be absent.
fn optional<T: Deserr<Problems>>(
    map: &mut serde_json::Map<String, serde_json::Value>,
    name: &str,
    problems: &mut Problems,
) -> Option<T> {
    map.contains_key(name)
        .then(|| section(map, name, problems))
        .flatten()
}

fn section<T: Deserr<Problems>>(
    map: &mut serde_json::Map<String, serde_json::Value>,
    name: &str,
    problems: &mut Problems,
) -> Option<T> {
    let Some(value) = map.remove(name) else {
        problems.push(name, "missing section");
        return None;
    };
    whole(value, name, problems)
}

/// What the deserializer says of a value that no variant has; it names neither the key nor the choices.
const WRONG_TAG: &str = "Incorrect tag value";

/// Adds the key and the choices to the problems of tagged tables.
fn name_tags(section: &str, mut found: Problems) -> Problems {
    let (key, choices) = match section {
        "load" => ("shape", "constant, ramp, spike"),
        _ => ("kind", "redis_primary_kill, broker_kill, cache_stock_raise"),
    };
    for problem in found.0.iter_mut().filter(|one| one.message == WRONG_TAG) {
        problem.path = format!("{}.{key}", problem.path);
        problem.message = format!("unknown value; one of {choices}");
    }
    found
}

fn whole<T: Deserr<Problems>>(
    value: serde_json::Value,
    name: &str,
    problems: &mut Problems,
) -> Option<T> {
    match deserr::deserialize::<T, _, Problems>(value) {
        Ok(section) => Some(section),
        Err(found) if name.is_empty() => {
            problems.0.extend(found.0);
            None
        }
        Err(found) => {
            problems.extend_below(name, name_tags(name, found));
            None
        }
    }
}
