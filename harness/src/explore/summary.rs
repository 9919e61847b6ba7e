//! What an exploration found, for people and for scripts.

use std::fmt::Write as _;

use serde::Serialize;

use super::Order;
use super::draft::Draft;
use super::trial::Outcome;
use crate::check::{CheckId, Verdict, words};

const LIMITS: &str = "A seed fixes which drills are drawn, their buyers, arrivals and the times of their faults. It cannot \
fix what the network, the schedulers and the servers' clocks do: a failure may not repeat, which is why it is replayed.";

/// All of it so far.
#[derive(Debug, Serialize)]
pub struct Summary {
    pub seed: u64,
    pub mutant: Option<String>,
    pub drills: Vec<Found>,
    /// The first of each set of failed checks, looked into.
    pub failures: Vec<Failure>,
}

/// One drill.
#[derive(Debug, Serialize)]
pub struct Found {
    pub number: u64,
    pub what: String,
    pub verdict: Verdict,
    pub failed: Vec<CheckId>,
    /// Why it was no valid test.
    pub why: Option<String>,
    pub run: String,
}

/// A failure that was replayed and made smaller.
#[derive(Debug, Serialize)]
pub struct Failure {
    pub drill: u64,
    pub checks: Vec<CheckId>,
    pub replays: u64,
    /// Replays that failed by one of the same checks.
    pub repeated: u64,
    /// What it does not take, in the order in which it was taken away.
    pub taken_away: Vec<String>,
    /// The smallest drill that failed, in a few words, and its file.
    pub smallest: String,
    pub file: String,
}

impl Found {
    pub fn new(number: u64, draft: &Draft, outcome: &Outcome, run: String) -> Self {
        let (verdict, failed, why) = match outcome {
            Outcome::Held => (Verdict::Pass, Vec::new(), None),
            Outcome::Failed(checks) => (Verdict::Fail, checks.clone(), None),
            Outcome::NoTest(why) => (Verdict::Inconclusive, Vec::new(), Some(why.clone())),
        };
        Self {
            number,
            what: draft.title.clone(),
            verdict,
            failed,
            why,
            run,
        }
    }

    fn words(&self) -> String {
        match (self.verdict, &self.why) {
            (Verdict::Pass, _) => "held".to_owned(),
            (Verdict::Fail, _) => format!("FAILED {}", words(&self.failed)),
            (Verdict::Inconclusive, why) => format!("no test: {}", why.as_deref().unwrap_or("")),
        }
    }
}

impl Summary {
    pub fn new(order: &Order) -> Self {
        Self {
            seed: order.seed,
            mutant: order.mutant.clone(),
            drills: Vec::new(),
            failures: Vec::new(),
        }
    }

    /// No failure by just these checks was looked into yet.
    pub fn is_new(&self, checks: &[CheckId]) -> bool {
        self.failures.iter().all(|known| known.checks != checks)
    }

    fn count(&self, verdict: Verdict) -> usize {
        let of = self.drills.iter().filter(|one| one.verdict == verdict);
        of.count()
    }

    /// A drill that was no valid test says nothing; without any that was, nothing was explored.
    pub fn verdict(&self) -> Verdict {
        let [pass, fail] = [Verdict::Pass, Verdict::Fail].map(|verdict| self.count(verdict));
        match (pass, fail) {
            (_, 1..) => Verdict::Fail,
            (1.., 0) => Verdict::Pass,
            (0, 0) => Verdict::Inconclusive,
        }
    }

    /// Markdown.
    pub fn to_text(&self) -> String {
        let all = [Verdict::Pass, Verdict::Fail, Verdict::Inconclusive];
        let [held, failed, no_test] = all.map(|verdict| self.count(verdict));
        let mut text = format!(
            "Seed {}: {} drills; {held} held, {failed} failed, {no_test} were no valid test.\n\n{LIMITS}\n\n",
            self.seed,
            self.drills.len()
        );
        for failure in &self.failures {
            text += &failure.to_text();
        }
        text += "| drill | what | result | run |\n|---|---|---|---|\n";
        for one in &self.drills {
            let words = one.words().replace('|', "/");
            let _ = writeln!(
                text,
                "| {} | {} | {words} | {} |",
                one.number, one.what, one.run
            );
        }
        text
    }
}

impl Failure {
    fn to_text(&self) -> String {
        let taken_away = match self.taken_away.as_slice() {
            [] => "nothing could be taken away".to_owned(),
            steps => format!("taken away: {}", steps.join(", ")),
        };
        format!(
            "Drill {} fails by {}, in {} of {} replays. The smallest that failed: {} ({taken_away}). Run it again:\n\n    \
             flashdrill drill run {}\n\n",
            self.drill,
            words(&self.checks),
            self.repeated,
            self.replays,
            self.smallest,
            self.file
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(outcomes: &[Verdict]) -> Summary {
        let of = |(number, verdict): (usize, &Verdict)| Found {
            number: number as u64,
            what: "constant for 4.0 s".to_owned(),
            verdict: *verdict,
            failed: Vec::new(),
            why: None,
            run: "r".to_owned(),
        };
        Summary {
            seed: 1,
            mutant: None,
            drills: outcomes.iter().enumerate().map(of).collect(),
            failures: Vec::new(),
        }
    }

    #[test]
    fn one_failure_fails_and_no_valid_test_is_no_pass() {
        use Verdict::{Fail, Inconclusive, Pass};
        for (outcomes, verdict) in [
            (vec![], Inconclusive),
            (vec![Inconclusive], Inconclusive),
            (vec![Pass, Inconclusive], Pass),
            (vec![Pass, Fail, Inconclusive], Fail),
        ] {
            assert_eq!(summary(&outcomes).verdict(), verdict, "{outcomes:?}");
        }
    }

    #[test]
    fn it_says_what_was_found_and_what_a_seed_cannot_fix() {
        let mut found = summary(&[Verdict::Fail]);
        assert!(found.is_new(&[CheckId::S2]));
        found.failures.push(Failure {
            drill: 0,
            checks: vec![CheckId::S2],
            replays: 3,
            repeated: 2,
            taken_away: vec!["half the time".to_owned()],
            smallest: "constant for 2.0 s".to_owned(),
            file: "0000-smallest.toml".to_owned(),
        });
        assert!(!found.is_new(&[CheckId::S2]) && found.is_new(&[CheckId::S1]));
        let text = found.to_text();
        for part in [
            "1 failed",
            "by S2, in 2 of 3 replays",
            "half the time",
            "cannot fix",
        ] {
            assert!(text.contains(part), "{part} not in: {text}");
        }
    }
}
