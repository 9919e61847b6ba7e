//! The target: where its file is, and whether it has what the drill's buyers ask of it.

use std::path::{Path, PathBuf};

use crate::drill::file::{DrillFile, FileError, JourneysSection, PopulationSection};
use crate::drill::problems::Problems;
use crate::drill::range::Share;
use crate::target::{self, Requests, Target};

/// Reads the target that `word` means: the path of a file, or a name in `targets/`.
///
/// # Errors
/// Every mistake, with its key path.
pub fn load(drill: &Path, word: &str) -> Result<Target, FileError> {
    let folder = drill.parent().unwrap_or(Path::new("."));
    target::file::load(&place(folder, word))
}

/// Where the file is that `word` means to a drill in `folder`: named targets stand in `targets` there or one level up.
pub fn place(folder: &Path, word: &str) -> PathBuf {
    if Path::new(word).extension().is_some_and(|end| end == "toml") {
        return word.into();
    }
    let file = format!("targets/{word}.toml");
    let beside = folder.join(&file);
    if beside.exists() {
        beside
    } else {
        folder.join("..").join(file)
    }
}

/// What the drill needs and the target lacks.
pub fn check(file: &DrillFile, target: &Target, problems: &mut Problems) {
    check_requests(file, target, problems);
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

/// Requests that some of the buyers make.
fn check_requests(file: &DrillFile, target: &Target, problems: &mut Problems) {
    let population = |share: fn(&PopulationSection) -> Share| {
        let section = file.population.as_ref();
        section.map_or(0.0, |section| share(section).get())
    };
    let journeys = |share: fn(&JourneysSection) -> f64| file.journeys.as_ref().map_or(0.0, share);
    let Requests {
        status,
        pay,
        cancel,
        ..
    } = &target.requests;
    for (request, name, key, share) in [
        (
            status,
            "status",
            "population.status_share",
            population(|one| one.status_share),
        ),
        (status, "status", "journeys", journeys(|_| 1.0)),
        (
            pay,
            "pay",
            "population.pay_share",
            population(|one| one.pay_share),
        ),
        (
            pay,
            "pay",
            "population.race_share",
            population(|one| one.race_share),
        ),
        (
            pay,
            "pay",
            "journeys.pay_share",
            journeys(|one| one.pay_share.get()),
        ),
        (
            cancel,
            "cancel",
            "population.cancel_share",
            population(|one| one.cancel_share),
        ),
        (
            cancel,
            "cancel",
            "population.race_share",
            population(|one| one.race_share),
        ),
        (
            cancel,
            "cancel",
            "journeys.cancel_share",
            journeys(|one| one.cancel_share.get()),
        ),
    ] {
        if share > 0.0 && request.is_absent() {
            problems.push(
                key,
                format!("target {} has no [requests.{name}]", target.name),
            );
        }
    }
}
