//! From the file as written to the plan: defaults filled in, names made, cross-checks done.

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
pub mod target;
mod trace;

use std::path::Path;

use self::short::Shrink;
use self::trace::Traces;
use super::file::{DrillFile, FileError, ShortSection, read_toml};
use super::plan::Plan;
use super::problems::Problems;
use super::range::Share;
use crate::target::Target;

/// What the command line adds to a drill file.
#[derive(Debug, Clone, Default)]
pub struct Choices {
    /// Overrides the file's seed.
    pub seed: Option<u64>,
    /// Shrinks the drill by its `[short]` section.
    pub short: bool,
    /// All rates are multiplied by this; None: 1.
    pub rate_share: Option<Share>,
    /// Overrides the file's target: a name in `targets/`, or the path of a target file.
    pub target: Option<String>,
    /// One of the target's `start.variants`; None: as the drill runs it.
    pub variant: Option<String>,
    /// Unique name of the run; the sale is named after it.
    pub run: String,
}

/// Reads a drill file and its target file and makes the plan.
///
/// # Errors
/// Every mistake of both files, with the file and the key path of each.
pub fn load_plan(path: &Path, choices: &Choices) -> Result<Plan, FileError> {
    let mut problems = Problems::default();
    let map = read_toml(path).map_err(|error| match error {
        FileError::Read { path, source } => FileError::NoDrill { path, source },
        wrong => wrong,
    })?;
    let file = DrillFile::from_map(map, &mut problems);
    let target = file.about.as_ref().and_then(|about| {
        let word = choices.target.as_ref().unwrap_or(&about.target);
        target::load(path, word)
            .map_err(|error| problems.push("target", error.to_string()))
            .ok()
    });
    let traces = traces(path, &file, &mut problems);
    let plan = resolve(
        &drill_name(path),
        file,
        target,
        &traces,
        choices,
        &mut problems,
    );
    problems.or(plan).map_err(|problems| FileError::Wrong {
        path: path.to_owned(),
        problems,
    })
}

/// The recorded loads that the drill names.
fn traces(drill: &Path, file: &DrillFile, problems: &mut Problems) -> Traces {
    let folder = drill.parent().unwrap_or(Path::new("."));
    file.load
        .as_ref()
        .map_or_else(Traces::default, |load| Traces::read(load, folder, problems))
}

/// `redis/primary-kill` for `.../drills/redis/primary-kill.toml`.
fn drill_name(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    match path.parent().and_then(Path::file_name) {
        Some(group) if group != "drills" => format!("{}/{stem}", group.to_string_lossy()),
        _ => stem.into_owned(),
    }
}

fn resolve(
    drill: &str,
    file: DrillFile,
    target: Option<Target>,
    traces: &Traces,
    choices: &Choices,
    problems: &mut Problems,
) -> Option<Plan> {
    let shrink = match (choices.short, &file.short) {
        (true, Some(section)) => Shrink::by(section),
        (true, None) => Shrink::by(&ShortSection::default()),
        (false, _) => Shrink::not_at_all(),
    };
    let shrink = choices
        .rate_share
        .map_or(shrink, |share| shrink.at_rate(share));
    cross_check(&file, target.as_ref(), traces, shrink, problems);
    check_variants(&file, target.as_ref(), choices, problems);
    if !problems.0.is_empty() {
        return None;
    }
    let about = file.about?;
    let mut target = target?;
    if let Some(service) = &file.service {
        target.start.env.extend(service.env.clone());
    }
    let variant = choices.variant.as_deref();
    if let Some(env) = variant.and_then(|name| target.start.variants.get(name)) {
        target.start.env.extend(env.clone());
    }
    let mutants = file.mutants?.into_iter();
    let mutants = mutants.filter(|mutant| mutant.variant.as_deref() == variant);
    let seed = choices.seed.or(about.seed).unwrap_or_else(fresh_seed);
    Some(Plan {
        drill: variant.map_or_else(|| drill.to_owned(), |variant| format!("{drill}@{variant}")),
        variants: file
            .service
            .as_ref()
            .map_or_else(Vec::new, |service| known(&service.variants, &target)),
        title: about.title,
        controls: about.controls,
        seed,
        service: service::service(file.service.as_ref(), &target.start),
        sale: sale::sale(&file.sale?, &choices.run, shrink),
        load: load::load(&file.load?, traces, shrink),
        population: population::population(&file.population?),
        journeys: file
            .journeys
            .map(|section| journeys::journeys(&section, shrink)),
        faults: compose::planned(&file.faults?, file.compose.as_ref(), shrink, seed),
        expect: expect::expect(&file.expect?, &target),
        mutants: mutants.map(expect::mutant).collect(),
        target,
    })
}

fn check_variants(
    file: &DrillFile,
    target: Option<&Target>,
    choices: &Choices,
    problems: &mut Problems,
) {
    let Some(start) = target.map(|target| &target.start) else {
        return;
    };
    if let (Some(section), None) = (&file.service, &choices.target) {
        service::check_variants(section, start, problems);
    }
    if let Some(name) = &choices.variant {
        service::check_variant("variant", name, start, problems);
    }
}

/// Those of the variants that the target has.
fn known(variants: &[String], target: &Target) -> Vec<String> {
    let has = |name: &&String| target.start.variants.contains_key(*name);
    variants.iter().filter(has).cloned().collect()
}

/// A seed nobody chose; it is saved in the plan and printed.
pub fn fresh_seed() -> u64 {
    let now = jiff::Timestamp::now().as_nanosecond();
    xxhash_rust::xxh3::xxh3_64(&now.to_le_bytes())
}

fn cross_check(
    file: &DrillFile,
    target: Option<&Target>,
    traces: &Traces,
    shrink: Shrink,
    problems: &mut Problems,
) {
    sale::check(file, target, traces, problems);
    if let (Some(section), Some(target)) = (&file.service, target) {
        service::check(section, &target.start, problems);
    }
    if let Some(load) = &file.load {
        load::check(load, traces, problems);
    }
    if let Some(population) = &file.population {
        population::check(population, problems);
    }
    journeys::check(file, target, traces, problems);
    if let Some(target) = target {
        target::check(file, target, problems);
    }
    faults::check(file, traces, problems);
    compose::check(file, traces, shrink, problems);
    expect::check(file, problems);
}
