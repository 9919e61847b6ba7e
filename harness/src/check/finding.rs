//! What one checker found: violations with witnesses, doubts, and the figures behind them.

use super::{CheckId, CheckResult, Verdict, Witness};
use crate::figures::count;

/// Witnesses kept of one class of violation; more are only counted.
const WITNESSES_KEPT: usize = 3;

/// Subjects of a doubt that are named; more are only counted.
const SUBJECTS_NAMED: usize = 3;

#[derive(Debug, Default)]
pub struct Finding {
    classes: Vec<Class>,
    doubts: Vec<Doubt>,
    facts: Vec<String>,
    witnesses: Vec<Witness>,
}

/// Violations of one kind.
#[derive(Debug)]
struct Class {
    /// Singular, `accepted purchase without an order`.
    name: &'static str,
    count: u64,
}

/// Something undecided, and about what; about the run as a whole where nothing is named.
#[derive(Debug)]
struct Doubt {
    text: String,
    about: Vec<String>,
}

impl Finding {
    /// A violation. The witness is only asked for while few are kept.
    pub fn violation(&mut self, name: &'static str, witness: impl FnOnce() -> Witness) {
        let known = self.classes.iter().position(|class| class.name == name);
        let at = known.unwrap_or_else(|| {
            self.classes.push(Class { name, count: 0 });
            self.classes.len() - 1
        });
        self.classes[at].count += 1;
        if self.classes[at].count <= WITNESSES_KEPT as u64 {
            self.witnesses.push(witness());
        }
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
            witnesses: self.witnesses,
        }
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

    #[test]
    fn counts_all_and_keeps_few() {
        let mut finding = Finding::default();
        for number in 0..1_200 {
            finding.violation("oversold SKU", || Witness {
                subject: number.to_string(),
                events: Vec::new(),
            });
            finding.doubt_about(&number.to_string(), "not read");
        }
        let result = finding.into_result(CheckId::S1, "title");
        assert_eq!(result.verdict, Verdict::Fail);
        assert_eq!(result.witnesses.len(), WITNESSES_KEPT);
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
