//! A failure looked into: does it repeat, and what of the drill does it take?

use super::ExploreError;
use super::draft::Draft;
use super::shrink::{Smaller, smaller};
use super::summary::Failure;
use super::trial::{Lab, Outcome};
use crate::check::CheckId;

/// Replays the drill and makes it smaller, a step at a time, as long as it fails by one of the same checks.
///
/// # Errors
/// As of [`Lab::run`].
pub async fn study(
    lab: &mut Lab<'_>,
    number: u64,
    draft: &Draft,
    checks: Vec<CheckId>,
) -> Result<Failure, ExploreError> {
    let (mut replays, mut repeated) = (0, 0);
    while replays < lab.order.replays && !lab.is_cancelled() {
        let (outcome, _) = lab.run(draft, &format!("{number:04}")).await?;
        replays += 1;
        repeated += u64::from(fails_by(&outcome, &checks));
    }
    let mut search = Search {
        runs_left: lab.order.shrink_runs,
        // What does not always fail gets two chances.
        tries: if repeated == replays { 1 } else { 2 },
        smallest: draft.clone(),
        steps: Vec::new(),
    };
    while let Some(step) = search.next_step(lab, number, &checks).await? {
        lab.bench
            .narrate
            .say(&format!("it still fails: {}", step.without));
        search.smallest = step.draft;
        search.steps.push(step.without);
    }
    let smallest = lab.write(&search.smallest, &format!("{number:04}-smallest"))?;
    Ok(Failure {
        drill: number,
        checks,
        replays,
        repeated,
        taken_away: search.steps,
        smallest: search.smallest.title,
        file: smallest.display().to_string(),
    })
}

struct Search {
    runs_left: u64,
    tries: u64,
    smallest: Draft,
    steps: Vec<String>,
}

impl Search {
    /// The first step that still fails; None: none does, or there are no runs left.
    async fn next_step(
        &mut self,
        lab: &mut Lab<'_>,
        number: u64,
        checks: &[CheckId],
    ) -> Result<Option<Smaller>, ExploreError> {
        for step in smaller(&self.smallest) {
            for _ in 0..self.tries {
                if self.runs_left == 0 || lab.is_cancelled() {
                    return Ok(None);
                }
                self.runs_left -= 1;
                let (outcome, _) = lab
                    .run(&step.draft, &format!("{number:04}-smaller"))
                    .await?;
                if fails_by(&outcome, checks) {
                    return Ok(Some(step));
                }
            }
        }
        Ok(None)
    }
}

fn fails_by(outcome: &Outcome, checks: &[CheckId]) -> bool {
    match outcome {
        Outcome::Failed(failed) => failed.iter().any(|check| checks.contains(check)),
        Outcome::Held | Outcome::NoTest(_) => false,
    }
}
