//! A drill file as written. Unknown keys are refused; every mistake is reported, not the first only.

mod about;
mod compose;
mod expect;
mod faults;
mod journeys;
mod load;
mod population;
mod sale;
mod service;
mod shape;
mod short;

use std::path::{Path, PathBuf};

use deserr::Deserr;
use serde::de::DeserializeOwned;

use super::problems::Problems;
use crate::load::schedule::Shape;

pub use about::About;
pub use compose::ComposeSection;
pub use expect::{AlertSection, ExpectSection, LevelSection, MutantSection, ServiceLevelsSection};
pub use faults::FaultSection;
pub use journeys::JourneysSection;
pub use load::{ArrivalsSection, LoadSection};
pub use population::PopulationSection;
pub use sale::{SaleSection, TopUpSection};
pub use service::ServiceSection;
pub use shape::{OnTopSection, PhaseSection, ShapeSection};
pub use short::ShortSection;

/// The sections of a drill file; a section with mistakes is absent and its mistakes are listed.
#[derive(Debug, Default)]
pub struct DrillFile {
    pub about: Option<About>,
    pub service: Option<ServiceSection>,
    pub sale: Option<SaleSection>,
    pub load: Option<LoadSection>,
    pub population: Option<PopulationSection>,
    pub journeys: Option<JourneysSection>,
    pub faults: Option<Vec<FaultSection>>,
    pub compose: Option<ComposeSection>,
    pub expect: Option<ExpectSection>,
    pub mutants: Option<Vec<MutantSection>>,
    pub short: Option<ShortSection>,
}

/// A file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("cannot read {path}: {source}")]
    Read {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("cannot read {path}: {source}; `flashdrill drill list` shows the drills there are")]
    NoDrill {
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
            compose: optional(&mut map, "compose", problems),
            service: optional(&mut map, "service", problems),
            journeys: optional(&mut map, "journeys", problems),
            short: optional(&mut map, "short", problems),
            about: whole(serde_json::Value::Object(map), "", problems),
        }
    }
}

/// A section that may be absent; `problems` gets every mistake in it.
pub(crate) fn optional<T: Deserr<Problems>>(
    map: &mut serde_json::Map<String, serde_json::Value>,
    name: &str,
    problems: &mut Problems,
) -> Option<T> {
    map.contains_key(name)
        .then(|| section(map, name, problems))
        .flatten()
}

/// A section that must be there; `problems` gets every mistake in it.
pub(crate) fn section<T: Deserr<Problems>>(
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

/// Adds the key and the choices to the problems of the load's tagged tables.
fn name_tags(mut found: Problems) -> Problems {
    let choices = choices::<Shape>("shape");
    for problem in found.0.iter_mut().filter(|one| one.message == WRONG_TAG) {
        problem.path = format!("{}.shape", problem.path);
        problem.message = format!("unknown value; {choices}");
    }
    found
}

/// The plan has the same variants by the same names, and its deserializer lists them when it is asked
/// for one that is none.
fn choices<T: DeserializeOwned>(key: &str) -> String {
    let none = serde_json::from_value::<T>(serde_json::json!({ key: "" }));
    let listed = none.err().map(|error| error.to_string());
    listed
        .as_deref()
        .and_then(|text| text.split_once(", "))
        .map_or_else(String::new, |(_, choices)| choices.replace('`', ""))
}

/// A value with all its keys, below `name`; `problems` gets every mistake in it.
pub(crate) fn whole<T: Deserr<Problems>>(
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
            problems.extend_below(name, name_tags(found));
            None
        }
    }
}
