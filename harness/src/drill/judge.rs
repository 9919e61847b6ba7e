//! From the evidence in a run folder to verdict and report. Used at the end of a run, and to judge a saved
//! run again: both read the same files, so they cannot come to different verdicts.

use std::collections::BTreeMap;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::folder::{FolderError, RunFolder};
use super::plan::Plan;
use crate::check::{Evidence, Judgement, judge};
use crate::history::{HistoryReader, survey};
use crate::observe::Sample;
use crate::report::{self, ReportError, ReportInput};

/// What a run was, beyond its plan.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct RunAbout {
    /// Name of the run, as of its folder.
    pub run: String,
    /// When it began, as people write it.
    pub started_at: String,
    /// The broken variant of the service that ran, if it was one.
    pub mutant: Option<String>,
}

impl RunAbout {
    /// A run that begins now.
    pub fn now(run: &str, mutant: Option<&str>) -> Self {
        Self {
            run: run.to_owned(),
            started_at: jiff::Timestamp::now()
                .strftime("%Y-%m-%d %H:%M:%S UTC")
                .to_string(),
            mutant: mutant.map(str::to_owned),
        }
    }
}

/// A run that has been judged.
#[derive(Debug)]
pub struct Finished {
    pub folder: RunFolder,
    pub about: RunAbout,
    pub evidence: Evidence,
    pub judgement: Judgement,
    /// Server -> product and version.
    pub environment: BTreeMap<String, String>,
}

impl Finished {
    /// What the reports tell of it.
    pub fn report(&self) -> ReportInput<'_> {
        ReportInput {
            run: &self.about.run,
            started_at: &self.about.started_at,
            mutant: self.about.mutant.as_deref(),
            evidence: &self.evidence,
            judgement: &self.judgement,
            environment: &self.environment,
        }
    }

    /// About ten lines for the terminal.
    pub fn summary(&self) -> String {
        report::summary(&self.report(), self.folder.path())
    }
}

/// A run that cannot be judged at all.
#[derive(Debug, thiserror::Error)]
pub enum JudgeError {
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error("cannot write the report: {0}")]
    Report(#[from] ReportError),
}

/// Judges what `folder` holds and writes the reports into it.
///
/// # Errors
/// There is no plan, or the reports cannot be written. Any other missing or damaged file makes the
/// verdict inconclusive, with the reason.
pub fn judge_folder(folder: RunFolder) -> Result<Finished, JudgeError> {
    let plan: Plan = folder.load(RunFolder::PLAN)?;
    let mut missing = Vec::new();
    let journeys = plan
        .journeys
        .as_ref()
        .map(|_| part(&folder, RunFolder::JOURNEYS, &mut missing));
    let evidence = Evidence {
        journeys,
        last_call: plan
            .expect
            .sell_out
            .then(|| part(&folder, RunFolder::LAST_CALL, &mut missing))
            .flatten(),
        load: part(&folder, RunFolder::LOAD, &mut missing),
        faults: part(&folder, RunFolder::FAULTS, &mut missing),
        top_ups: if plan.sale.top_ups.is_empty() {
            Vec::new()
        } else {
            part(&folder, RunFolder::TOP_UPS, &mut missing)
        },
        stores: part(&folder, RunFolder::STORES, &mut missing),
        guarantees: part(&folder, RunFolder::GUARANTEES, &mut missing),
        alerts: plan
            .target
            .alerts
            .as_ref()
            .and_then(|_| part(&folder, RunFolder::ALERTS, &mut missing)),
        clean_room: part(&folder, RunFolder::CLEAN_ROOM, &mut missing),
        plan,
        reasons: Vec::new(),
        damage: None,
        samples: samples(&folder),
    };
    let about = part(&folder, RunFolder::ABOUT, &mut missing);
    let environment = part(&folder, RunFolder::ENVIRONMENT, &mut missing);
    let (evidence, judgement) = with_history(&folder, evidence, missing);
    let finished = Finished {
        folder,
        about,
        evidence,
        judgement,
        environment,
    };
    report::write_all(finished.folder.path(), &finished.report())?;
    Ok(finished)
}

/// One file of the evidence; its default, and a line in `missing`, when it cannot be read.
fn part<T: DeserializeOwned + Default>(
    folder: &RunFolder,
    name: &str,
    missing: &mut Vec<String>,
) -> T {
    folder.load(name).unwrap_or_else(|error| {
        missing.push(error.to_string());
        T::default()
    })
}

/// Judges by the load's history, by that of the journeys where the plan has any, and of the last call if one was made.
fn with_history(
    folder: &RunFolder,
    mut evidence: Evidence,
    mut missing: Vec<String>,
) -> (Evidence, Judgement) {
    let mut names = vec![RunFolder::HISTORY];
    if evidence.plan.journeys.is_some() {
        names.push(RunFolder::JOURNEY_HISTORY);
    }
    if evidence.last_call.is_some() {
        names.push(RunFolder::LAST_CALL_HISTORY);
    }
    let readers: Vec<HistoryReader> = names
        .into_iter()
        .filter_map(|name| open(&folder.file(name), &mut missing))
        .collect();
    if let Some(first) = readers.first() {
        evidence.reasons.clone_from(&first.header().reasons);
    }
    if readers
        .iter()
        .any(|one| one.header().reasons != evidence.reasons)
    {
        missing.push("the histories are not of one run: their reasons differ".to_owned());
    }
    evidence.damage = (!missing.is_empty()).then(|| missing.join("; "));
    let whole = |reader: HistoryReader| reader.map_while(Result::ok);
    let judgement = judge(&evidence, readers.into_iter().flat_map(whole));
    (evidence, judgement)
}

/// A history that can be read, at least in part; why not all of it, or nothing, goes to `missing`.
fn open(path: &Path, missing: &mut Vec<String>) -> Option<HistoryReader> {
    let opened = survey(path).and_then(|survey| Ok((survey, HistoryReader::open(path)?)));
    match opened {
        Ok((survey, reader)) => {
            missing.extend(survey.damage);
            Some(reader)
        }
        Err(error) => {
            missing.push(error.to_string());
            None
        }
    }
}

/// Samples are for the plots only: what cannot be read is left out.
fn samples(folder: &RunFolder) -> Vec<Sample> {
    let text = std::fs::read_to_string(folder.file(RunFolder::SAMPLES)).unwrap_or_default();
    text.lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}
