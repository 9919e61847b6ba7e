//! What one checker found: violations with witnesses, doubts, and the figures behind them.

use super::{CheckId, CheckResult, Verdict, Witness};

/// Witnesses kept of one class of violation; more are only counted.
const WITNESSES_KEPT: usize = 3;

#[derive(Debug, Default)]
pub struct Finding {
    classes: Vec<Class>,
    doubts: Vec<String>,
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
        self.doubts.push(text);
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
            .map(|class| format!("{} × {}", class.count, class.name));
        let parts: Vec<String> = violations.chain(self.doubts).chain(self.facts).collect();
        CheckResult {
            id,
            title: title.to_owned(),
            verdict,
            detail: sentence(&parts),
            witnesses: self.witnesses,
        }
    }
}

fn sentence(parts: &[String]) -> String {
    let text = parts.join("; ");
    let mut letters = text.chars();
    let first = letters
        .next()
        .map(|letter| letter.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}
