//! A1: whoever is on call is told of each trouble once and in time, and of nothing else.

use super::case::{Case, Checker};
use super::finding::Finding;
use super::{CheckId, Witness};
use crate::drill::plan::ExpectedAlert;
use crate::faults::FaultEvent;
use crate::figures::{moment, ms};
use crate::observe::alerts::Alert;

pub struct Alerts;

/// What an alert is due for: a fault, or the sale itself, which begins with the load.
struct Occasion<'c> {
    expected: &'c ExpectedAlert,
    fault: Option<&'c FaultEvent>,
    from_ms: i64,
    /// Alerts that came because of it.
    told: Vec<&'c Alert>,
}

impl Checker for Alerts {
    fn id(&self) -> CheckId {
        CheckId::A1
    }

    fn title(&self) -> &'static str {
        "Alerts: each expected one arrives once and in time, and no other"
    }

    fn judge(&self, case: &Case<'_>) -> Finding {
        let mut finding = Finding::default();
        let Some(alerts) = &case.evidence.alerts else {
            finding.doubt("nobody listened for alerts".to_owned());
            return finding;
        };
        case.doubt_unless_read(&mut finding);
        let mut occasions = occasions(case);
        for alert in alerts {
            match latest(&mut occasions, alert) {
                Some(occasion) => occasion.take(alert, &mut finding),
                None => finding.violation("alert that nothing gave occasion to", || {
                    witness(alert, vec![told(alert)])
                }),
            }
        }
        for occasion in &occasions {
            occasion.conclude(&mut finding);
        }
        finding.fact(format!("{} alerts arrived", alerts.len()));
        finding
    }
}

/// Every alert that is expected, for every fault that it is expected of.
fn occasions<'c>(case: &'c Case<'_>) -> Vec<Occasion<'c>> {
    let evidence = case.evidence;
    let of = |expected: &'c ExpectedAlert| -> Vec<Occasion<'c>> {
        let occasion = |fault: Option<&'c FaultEvent>| Occasion {
            expected,
            fault,
            from_ms: fault.map_or(0, |fault| fault.injected_at_ms as i64),
            told: Vec::new(),
        };
        match &expected.fault {
            None => vec![occasion(None)],
            Some(kind) => {
                let faults = evidence.faults.iter();
                let faults = faults.filter(|fault| fault.kind == *kind);
                faults.map(|fault| occasion(Some(fault))).collect()
            }
        }
    };
    evidence.plan.expect.alerts.iter().flat_map(of).collect()
}

/// The last occasion before the alert.
fn latest<'o, 'c>(
    occasions: &'o mut [Occasion<'c>],
    alert: &Alert,
) -> Option<&'o mut Occasion<'c>> {
    let before = occasions
        .iter_mut()
        .filter(|one| one.expected.name == alert.name && one.from_ms <= alert.at_ms);
    before.max_by_key(|one| one.from_ms)
}

impl<'c> Occasion<'c> {
    fn take(&mut self, alert: &'c Alert, finding: &mut Finding) {
        let late_ms = alert.at_ms - self.from_ms - self.expected.within_ms as i64;
        if let Ok(late_ms @ 1..) = u64::try_from(late_ms) {
            finding.violation_of(late_ms, "alert too late", || {
                witness(alert, vec![self.words(), told(alert), self.due()])
            });
        }
        let earlier = self.told.iter().find(|one| one.about == alert.about);
        if let Some(earlier) = earlier {
            finding.violation("alert told again", || {
                witness(alert, vec![self.words(), told(earlier), told(alert)])
            });
        }
        self.told.push(alert);
    }

    fn conclude(&self, finding: &mut Finding) {
        if self.told.len() as u64 >= self.expected.at_least {
            return;
        }
        // Of a fault that never bit nobody need be told.
        if self.fault.is_some_and(|fault| fault.receipt.is_none()) {
            finding.doubt(format!("{}, without evidence that it bit", self.words()));
            return;
        }
        finding.violation("expected alert missing", || {
            let mut events = vec![self.words()];
            events.extend(self.told.iter().map(|alert| told(alert)));
            events.push(self.due());
            Witness {
                subject: self.expected.name.clone(),
                events,
            }
        });
    }

    fn words(&self) -> String {
        let what = self.fault.map_or("the load begins", |fault| &fault.kind);
        format!("{} {what}", moment(self.from_ms))
    }

    fn due(&self) -> String {
        let ExpectedAlert {
            name,
            at_least,
            within_ms,
            ..
        } = self.expected;
        format!("at least {at_least} × {name} within {}", ms(*within_ms))
    }
}

fn witness(alert: &Alert, events: Vec<String>) -> Witness {
    let subject = match (alert.name.as_str(), alert.about.as_str()) {
        ("", _) => "(no name)".to_owned(),
        (name, "") => name.to_owned(),
        (name, about) => format!("{name} {about}"),
    };
    Witness { subject, events }
}

fn told(alert: &Alert) -> String {
    format!("{} alert {}", moment(alert.at_ms), alert.body)
}

#[cfg(test)]
mod tests {
    use super::super::Verdict::{Fail, Inconclusive, Pass};
    use super::super::tiny_history::{Tiny, assert_verdicts, broker_killed};
    use super::*;

    fn alert(at_ms: i64, name: &str, about: &str) -> Alert {
        Alert {
            at_ms,
            name: name.to_owned(),
            about: about.to_owned(),
            body: "{}".to_owned(),
        }
    }

    fn expected(fault: Option<&str>, at_least: u64) -> ExpectedAlert {
        ExpectedAlert {
            name: "queue_down".to_owned(),
            fault: fault.map(str::to_owned),
            within_ms: 500,
            at_least,
        }
    }

    /// The broker dies at 1 s and at 3 s; each time the alert is due within half a second.
    fn killed_twice(alerts: &[Alert]) -> Tiny {
        let alerts = alerts.to_vec();
        Tiny::sale(2).bought(1).with(|e| {
            e.faults = vec![broker_killed(1_000, 2_000), broker_killed(3_000, 4_000)];
            e.plan.expect.alerts = vec![expected(Some("broker_kill"), 1)];
            e.alerts = Some(alerts);
        })
    }

    fn down(at_ms: i64) -> Alert {
        alert(at_ms, "queue_down", "node")
    }

    #[test]
    fn each_fault_is_told_once_and_in_time() {
        assert_verdicts(
            CheckId::A1,
            vec![
                (
                    "both, at once",
                    killed_twice(&[down(1_000), down(3_000)]),
                    Pass,
                ),
                (
                    "both, at the last moment",
                    killed_twice(&[down(1_500), down(3_500)]),
                    Pass,
                ),
                (
                    "by two nodes",
                    killed_twice(&[
                        down(1_100),
                        alert(1_100, "queue_down", "other"),
                        down(3_100),
                    ]),
                    Pass,
                ),
                ("none", killed_twice(&[]), Fail),
                ("the first only", killed_twice(&[down(1_100)]), Fail),
                ("the second only", killed_twice(&[down(3_100)]), Fail),
                ("too late", killed_twice(&[down(1_501), down(3_000)]), Fail),
                (
                    "again",
                    killed_twice(&[down(1_100), down(1_200), down(3_000)]),
                    Fail,
                ),
                (
                    "before anything happened",
                    killed_twice(&[down(999), down(1_100), down(3_000)]),
                    Fail,
                ),
                (
                    "another beside them",
                    killed_twice(&[down(1_100), down(3_000), alert(3_000, "stock_paused", "s0")]),
                    Fail,
                ),
                (
                    "one without a name",
                    killed_twice(&[down(1_100), down(3_000), alert(3_000, "", "")]),
                    Fail,
                ),
            ],
        );
    }

    #[test]
    fn a_sale_without_trouble_is_a_silent_one() {
        let sale = |alerts: Option<Vec<Alert>>| Tiny::sale(2).bought(1).with(|e| e.alerts = alerts);
        assert_verdicts(
            CheckId::A1,
            vec![
                ("silent", sale(Some(Vec::new())), Pass),
                ("an alert", sale(Some(vec![down(7)])), Fail),
                ("nobody listened", sale(None), Inconclusive),
            ],
        );
    }

    #[test]
    fn an_alert_may_be_due_to_the_sale_itself_or_merely_allowed() {
        let sale = |alerts: &[Alert], at_least| {
            let alerts = alerts.to_vec();
            Tiny::sale(2).bought(1).with(|e| {
                e.plan.expect.alerts = vec![expected(None, at_least)];
                e.alerts = Some(alerts);
            })
        };
        let two = [down(100), alert(200, "queue_down", "other")];
        assert_verdicts(
            CheckId::A1,
            vec![
                ("due, told", sale(&[down(100)], 1), Pass),
                ("due, silent", sale(&[], 1), Fail),
                ("two due, one told", sale(&[down(100)], 2), Fail),
                ("two due, two told", sale(&two, 2), Pass),
                ("allowed, silent", sale(&[], 0), Pass),
                ("allowed, told", sale(&[down(100)], 0), Pass),
                (
                    "allowed, but not twice",
                    sale(&[down(100), down(200)], 0),
                    Fail,
                ),
                ("allowed, but not so late", sale(&[down(501)], 0), Fail),
            ],
        );
    }

    #[test]
    fn a_fault_without_evidence_need_not_be_told() {
        let unbitten = |alerts: &[Alert]| {
            killed_twice(alerts).with(|e| e.faults.iter_mut().for_each(|one| one.receipt = None))
        };
        assert_verdicts(
            CheckId::A1,
            vec![
                ("silent", unbitten(&[]), Inconclusive),
                ("told", unbitten(&[down(1_100), down(3_100)]), Pass),
            ],
        );
    }

    #[test]
    fn the_witness_tells_what_was_due_and_what_came() {
        let late = killed_twice(&[down(2_000), down(3_000)]).check(CheckId::A1);
        assert_eq!(late.witnesses[0].witness.subject, "queue_down node");
        assert_eq!(
            late.witnesses[0].witness.events,
            [
                "+1.0 s broker_kill",
                "+2.0 s alert {}",
                "at least 1 × queue_down within 500 ms"
            ]
        );
    }
}
