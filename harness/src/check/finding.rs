//! What one checker found: violations with witnesses, doubts, and the figures behind them.

use super::{CheckId, CheckResult, KeptWitness, Place, Verdict, Witness};
use crate::figures::count;

/// The last witness of a class is that of the last violation among so many: telling one costs more than
/// counting it.
const WITNESSED_MAX: u64 = 10_000;

/// Subjects of a doubt that are named; more are only counted.
const SUBJECTS_NAMED: usize = 3;

#[derive(Debug, Default)]
pub struct Finding {
    classes: Vec<Class>,
    doubts: Vec<Doubt>,
    facts: Vec<String>,
}

/// Violations of one kind.
#[derive(Debug)]
struct Class {
    /// Singular, `accepted purchase without an order`.
    name: &'static str,
    count: u64,
    /// Units, or 1 where one is as bad as another.
    worst_size: u64,
    first: Option<Witness>,
    /// None: the first one is.
    worst: Option<Witness>,
    /// None: there is one only.
    last: Option<Witness>,
}

/// Something undecided, and about what; about the run as a whole where nothing is named.
#[derive(Debug)]
struct Doubt {
    text: String,
    about: Vec<String>,
}

impl Finding {
    /// A violation; one of its class is as bad as another.
    pub fn violation(&mut self, name: &'static str, witness: impl FnOnce() -> Witness) {
        self.violation_of(1, name, witness);
    }

    /// A violation of so many units.
    pub fn violation_of(
        &mut self,
        size: u64,
        name: &'static str,
        witness: impl FnOnce() -> Witness,
    ) {
        let known = self.classes.iter().position(|class| class.name == name);
        let at = known.unwrap_or_else(|| {
            self.classes.push(Class::new(name));
            self.classes.len() - 1
        });
        self.classes[at].add(size, witness);
    }

    /// Something the evidence cannot decide.
    pub fn doubt(&mut self, text: String) {
        self.doubts.push(Doubt {
            text,
            about: Vec::new(),
        });
    }

    /// The same of one SKU or purchase; those with the same text are told together.
    pub fn doubt_about(&mut self, subject: &str, text: &str) {
        match self.doubts.iter_mut().find(|doubt| doubt.text == text) {
            Some(doubt) => doubt.about.push(subject.to_owned()),
            None => {
                self.doubts.push(Doubt {
                    text: text.to_owned(),
                    about: vec![subject.to_owned()],
                });
            }
        }
    }

    pub fn has_doubts(&self) -> bool {
        !self.doubts.is_empty()
    }

    /// A figure worth telling whatever the verdict.
    pub fn fact(&mut self, text: String) {
        self.facts.push(text);
    }

    fn verdict(&self) -> Verdict {
        match (self.classes.is_empty(), self.doubts.is_empty()) {
            (false, _) => Verdict::Fail,
            (true, false) => Verdict::Inconclusive,
            (true, true) => Verdict::Pass,
        }
    }

    pub fn into_result(self, id: CheckId, title: &str) -> CheckResult {
        let verdict = self.verdict();
        let violations = self
            .classes
            .iter()
            .map(|class| format!("{} × {}", count(class.count), class.name));
        let doubts = self.doubts.iter().map(Doubt::words);
        let parts: Vec<String> = violations.chain(doubts).chain(self.facts).collect();
        CheckResult {
            id,
            title: title.to_owned(),
            verdict,
            detail: sentence(&parts),
            witnesses: self
                .classes
                .into_iter()
                .flat_map(Class::witnesses)
                .collect(),
        }
    }
}

impl Class {
    fn new(name: &'static str) -> Self {
        Self {
            name,
            count: 0,
            worst_size: 0,
            first: None,
            worst: None,
            last: None,
        }
    }

    fn add(&mut self, size: u64, witness: impl FnOnce() -> Witness) {
        self.count += 1;
        let is_worst = size > self.worst_size;
        self.worst_size = self.worst_size.max(size);
        if self.count > WITNESSED_MAX && !is_worst {
            return;
        }
        let witness = witness();
        if self.first.is_none() {
            self.first = Some(witness);
        } else if is_worst {
            self.last = Some(witness.clone());
            self.worst = Some(witness);
        } else {
            self.last = Some(witness);
        }
    }

    /// The worst of them is told once, also when it is the last.
    fn witnesses(self) -> impl Iterator<Item = KeptWitness> {
        let last = self.last.filter(|last| self.worst.as_ref() != Some(last));
        let all = [
            (Place::First, self.first),
            (Place::Worst, self.worst),
            (Place::Last, last),
        ];
        all.into_iter()
            .filter_map(|(place, witness)| witness.map(|witness| KeptWitness { place, witness }))
    }
}

impl Doubt {
    fn words(&self) -> String {
        let named = self.about.iter().take(SUBJECTS_NAMED).map(String::as_str);
        let named = named.collect::<Vec<_>>().join(", ");
        match self.about.len() {
            0 => self.text.clone(),
            1..=SUBJECTS_NAMED => format!("{} ({named})", self.text),
            all => format!("{} ({named} and {} more)", self.text, all - SUBJECTS_NAMED),
        }
    }
}

/// A capital letter, unless the first word is a name.
fn sentence(parts: &[String]) -> String {
    let text = parts.join("; ");
    let first_word = text.split([' ', ':', ';']).next().unwrap_or_default();
    if first_word.contains(|letter: char| !letter.is_alphabetic()) {
        return format!("{text}.");
    }
    let mut letters = text.chars();
    let first = letters
        .next()
        .map(|letter| letter.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Subjects of the witnesses kept of violations of these sizes, numbered from 0.
    fn kept(sizes: &[u64]) -> Vec<(Place, String)> {
        let mut finding = Finding::default();
        for (number, size) in sizes.iter().enumerate() {
            finding.violation_of(*size, "oversold SKU", || Witness {
                subject: number.to_string(),
                events: Vec::new(),
            });
        }
        let result = finding.into_result(CheckId::S1, "title");
        assert_eq!(result.verdict, Verdict::Fail);
        let kept = result.witnesses.into_iter();
        kept.map(|one| (one.place, one.witness.subject)).collect()
    }

    #[test]
    fn keeps_the_first_the_worst_and_the_last() {
        use Place::{First, Last, Worst};
        let cases = [
            (vec![3], vec![(First, "0")]),
            (vec![3, 3], vec![(First, "0"), (Last, "1")]),
            (vec![3, 9, 4], vec![(First, "0"), (Worst, "1"), (Last, "2")]),
            (vec![3, 4, 9], vec![(First, "0"), (Worst, "2")]),
            (vec![9, 4, 3, 3], vec![(First, "0"), (Last, "3")]),
        ];
        for (sizes, expected) in cases {
            let expected: Vec<_> = expected
                .iter()
                .map(|(place, subject)| (*place, (*subject).to_owned()))
                .collect();
            assert_eq!(kept(&sizes), expected, "{sizes:?}");
        }
    }

    #[test]
    fn among_very_many_the_last_one_told_is_not_the_last_but_the_worst_is_the_worst() {
        use Place::{First, Last, Worst};
        let most = WITNESSED_MAX as usize;
        let mut sizes = vec![3; most + 5];
        let last = (Last, (most - 1).to_string());
        assert_eq!(kept(&sizes), [(First, "0".to_owned()), last]);
        sizes[most + 2] = 9;
        let worst = (Worst, (most + 2).to_string());
        assert_eq!(kept(&sizes), [(First, "0".to_owned()), worst]);
    }

    #[test]
    fn counts_all_and_names_few() {
        let mut finding = Finding::default();
        for number in 0..1_200 {
            finding.violation("oversold SKU", || Witness {
                subject: number.to_string(),
                events: Vec::new(),
            });
            finding.doubt_about(&number.to_string(), "not read");
        }
        let result = finding.into_result(CheckId::S1, "title");
        assert_eq!(
            result.detail,
            "1,200 × oversold SKU; not read (0, 1, 2 and 1197 more)."
        );
    }

    #[test]
    fn sentences_leave_names_alone() {
        let cases = [
            ("queue empty", "Queue empty."),
            ("phone-128: x", "phone-128: x."),
            ("", "."),
        ];
        for (text, expected) in cases {
            assert_eq!(sentence(&[text.to_owned()]), expected);
        }
    }
}
