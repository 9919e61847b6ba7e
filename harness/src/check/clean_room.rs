//! P2: the run left nothing behind.

use super::case::{Case, Checker};
use super::finding::Finding;
use super::{CheckId, Witness};
use crate::environment::LeftoverKind;

pub struct CleanRoom;

impl Checker for CleanRoom {
    fn id(&self) -> CheckId {
        CheckId::P2
    }

    fn title(&self) -> &'static str {
        "Clean room: no toxic, paused server, changed setting, process or file left behind"
    }

    fn judge(&self, case: &Case<'_>) -> Finding {
        let mut finding = Finding::default();
        let room = &case.evidence.clean_room;
        for leftover in room.leftovers() {
            if leftover.kind == LeftoverKind::Unknown {
                finding.doubt(leftover.to_string());
                continue;
            }
            finding.violation("thing left behind", || Witness {
                subject: leftover.to_string(),
                events: Vec::new(),
            });
            finding.fact(leftover.to_string());
        }
        if room.leftovers().next().is_none() {
            finding.fact("nothing was left behind".to_owned());
        }
        finding
    }
}

#[cfg(test)]
mod tests {
    use super::super::Verdict::{Fail, Inconclusive, Pass};
    use super::super::tiny_history::{Tiny, assert_verdicts};
    use super::*;
    use crate::environment::Leftover;

    fn left(kind: LeftoverKind, what: &str) -> Tiny {
        let what = what.to_owned();
        Tiny::sale(2)
            .bought(1)
            .with(|e| e.clean_room.after_run.push(Leftover { kind, what }))
    }

    #[test]
    fn what_is_left_is_named_and_fails_the_run() {
        let toxic = || left(LeftoverKind::Toxic, "latency_upstream on service-0-mysql");
        let process = left(LeftoverKind::Process, "7: sleep 600").with(|e| {
            let found = e.clean_room.after_run.drain(..).collect();
            e.clean_room.after_stop = Some(found);
        });
        assert_verdicts(
            CheckId::P2,
            vec![
                ("nothing", Tiny::sale(2).bought(1), Pass),
                ("a toxic on the stack", toxic(), Fail),
                ("a process when the stack is gone", process, Fail),
                (
                    "a scan that failed",
                    left(LeftoverKind::Unknown, "no answer"),
                    Inconclusive,
                ),
            ],
        );
        let detail = toxic().check(CheckId::P2).detail;
        assert!(
            detail.contains("latency_upstream on service-0-mysql"),
            "{detail}"
        );
    }
}
