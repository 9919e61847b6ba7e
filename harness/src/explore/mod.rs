//! Random drills of one seed, one after the other, until the time is over. What fails is saved as a drill file,
//! replayed to see how often it repeats, and made smaller.

mod draft;
mod generate;
mod menu;
mod shrink;
mod study;
mod summary;
mod trial;

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::drill::file::FileError;
use crate::drill::folder::FolderError;
use crate::drill::run::RunError;
use crate::faults::Grounds;
use crate::target::Target;

pub use summary::{Failure, Found, Summary};
pub use trial::{Lab, Outcome};

/// Runs that could not be carried through, one after the other, before it gives up.
const BROKEN_RUNS_MAX: u64 = 3;

/// What to explore.
#[derive(Debug, Clone)]
pub struct Order {
    pub seed: u64,
    /// After this no new drill is begun; a failure that was found is still studied.
    pub time: Duration,
    /// Path of the target file, as drill files name it, and what it says.
    pub target_file: String,
    pub target: Target,
    /// A broken variant of the service, to see what exploring finds.
    pub mutant: Option<String>,
    /// How often a failure is run again as it was.
    pub replays: u64,
    /// Runs that may be spent on making a failure smaller.
    pub shrink_runs: u64,
}

#[derive(Debug, thiserror::Error)]
pub enum ExploreError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error("a drill that was drawn cannot be written: {0}; this is a bug")]
    Toml(#[from] toml::ser::Error),
    #[error("{runs} runs in a row could not be carried through; the last one: {error}")]
    Broken { runs: u64, error: RunError },
}

/// Explores. Ctrl-C ends it after the run that is on; what was found is saved after every run.
///
/// # Errors
/// Files cannot be written, or the servers do not come back.
pub async fn explore(lab: &mut Lab<'_>) -> Result<Summary, ExploreError> {
    let order = lab.order;
    let grounds = Grounds {
        setting: lab.stack.setting(),
        target: &order.target,
        service_nodes: 1,
    };
    let menu = menu::menu(grounds);
    let mut summary = Summary::new(order);
    let begun = Instant::now();
    while begun.elapsed() < order.time && !lab.is_cancelled() {
        let number = summary.drills.len() as u64;
        let draft = generate::draft(order.seed, number, &menu);
        let (outcome, run) = lab.run(&draft, &format!("{number:04}")).await?;
        // The run that Ctrl-C came into was cut short.
        if lab.is_cancelled() {
            break;
        }
        summary
            .drills
            .push(Found::new(number, &draft, &outcome, run));
        lab.save(&summary)?;
        if let Outcome::Failed(checks) = outcome
            && summary.is_new(&checks)
        {
            let failure = study::study(lab, number, &draft, checks).await?;
            summary.failures.push(failure);
            lab.save(&summary)?;
        }
    }
    Ok(summary)
}

impl Lab<'_> {
    fn is_cancelled(&self) -> bool {
        self.bench.cancel.load(Ordering::Relaxed)
    }
}
