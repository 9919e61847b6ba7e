//! The target: where its file is, and whether it has what the drill's buyers ask of it.

use std::path::{Path, PathBuf};

use crate::drill::file::{DrillFile, FileError};
use crate::drill::problems::Problems;
use crate::target::{self, Target};

/// Reads the target that `word` means: the path of a file, or a name in `targets/`.
///
/// # Errors
/// Every mistake, with its key path.
pub fn load(drill: &Path, word: &str) -> Result<Target, FileError> {
    target::file::load(&place(drill, word))
}

/// Named targets stand in the `targets` folder beside the drill's or one level up.
fn place(drill: &Path, word: &str) -> PathBuf {
    if Path::new(word).extension().is_some_and(|end| end == "toml") {
        return word.into();
    }
    let file = format!("targets/{word}.toml");
    let folder = drill.parent().unwrap_or(Path::new("."));
    let beside = folder.join(&file);
    if beside.exists() {
        beside
    } else {
        folder.join("..").join(file)
    }
}

/// What the drill needs and the target lacks.
pub fn check(file: &DrillFile, target: &Target, problems: &mut Problems) {
    let requests = &target.requests;
    for (absent, name, askers) in [
        (requests.status.is_absent(), "status", pollers(file)),
        (requests.pay.is_absent(), "pay", payers(file)),
        (requests.cancel.is_absent(), "cancel", cancellers(file)),
    ] {
        for asker in askers.into_iter().filter(|_| absent) {
            let message = format!("target {} has no [requests.{name}]", target.name);
            problems.push(asker, message);
        }
    }
    let state = &target.state;
    if state.topic.is_empty() != state.consumer_group.is_empty() {
        problems.push(
            "target",
            "state.topic and state.consumer_group belong together; one of them is missing",
        );
    }
    if !state.counters.is_empty() && state.metrics_path.is_empty() {
        problems.push(
            "target",
            "state.counters are read at state.metrics_path, which is missing",
        );
    }
}

/// Keys of the drill by which buyers ask for their order.
fn pollers(file: &DrillFile) -> Vec<&'static str> {
    let load = file
        .population
        .as_ref()
        .map_or(0.0, |one| one.status_share.get());
    asking([
        ("population.status_share", load),
        ("journeys", f64::from(u8::from(file.journeys.is_some()))),
    ])
}

/// Keys by which they pay.
fn payers(file: &DrillFile) -> Vec<&'static str> {
    let population = file.population.as_ref();
    asking([
        (
            "population.pay_share",
            population.map_or(0.0, |one| one.pay_share.get()),
        ),
        (
            "population.race_share",
            population.map_or(0.0, |one| one.race_share.get()),
        ),
        (
            "journeys.pay_share",
            file.journeys
                .as_ref()
                .map_or(0.0, |one| one.pay_share.get()),
        ),
    ])
}

/// Keys by which they cancel.
fn cancellers(file: &DrillFile) -> Vec<&'static str> {
    let population = file.population.as_ref();
    asking([
        (
            "population.cancel_share",
            population.map_or(0.0, |one| one.cancel_share.get()),
        ),
        (
            "population.race_share",
            population.map_or(0.0, |one| one.race_share.get()),
        ),
        (
            "journeys.cancel_share",
            file.journeys
                .as_ref()
                .map_or(0.0, |one| one.cancel_share.get()),
        ),
    ])
}

/// Those of which there is a share.
fn asking<const N: usize>(shares: [(&'static str, f64); N]) -> Vec<&'static str> {
    let some = shares.into_iter().filter(|(_, share)| *share > 0.0);
    some.map(|(key, _)| key).collect()
}
