//! The court: reads the history once, asks every checker, joins the answers.

use std::convert::Infallible;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::admission_oversell::AdmissionOversell;
use super::alerts::Alerts;
use super::allowance::Allowance;
use super::backlog::Backlog;
use super::case::{Case, Checker};
use super::clean_room::CleanRoom;
use super::conservation::Conservation;
use super::finding::Finding;
use super::fulfilment::Fulfilment;
use super::gate::GateHolds;
use super::ledger::Ledger;
use super::levels::Level;
use super::limit::Limit;
use super::losses::{Loss, losses};
use super::lost::Lost;
use super::one_order::OneOrder;
use super::order_oversell::OrderOversell;
use super::phantom::Phantom;
use super::preconditions::Preconditions;
use super::purchases::Purchases;
use super::recovered::Recovered;
use super::recovery::{Recovery, longest};
use super::sell_through::SellThrough;
use super::service_levels::ServiceLevels;
use super::steady::Steady;
use super::tally::Tally;
use super::transitions::Transitions;
use super::truthful::Truthful;
use super::unknown::Unknown;
use super::{CheckId, CheckResult, Evidence, Judgement, Verdict};
use crate::history::operation::Operation;

/// Every checker there is.
const CHECKERS: [&dyn Checker; 21] = [
    &Preconditions,
    &CleanRoom,
    &OrderOversell,
    &AdmissionOversell,
    &Fulfilment,
    &OneOrder,
    &Limit,
    &Phantom,
    &Transitions,
    &Truthful,
    &Lost,
    &Unknown,
    &Conservation,
    &SellThrough,
    &Recovered,
    &Allowance,
    &Backlog,
    &GateHolds,
    &Alerts,
    &ServiceLevels,
    &Steady,
];

/// Asked whatever a drill expects.
const ALWAYS: [CheckId; 2] = [CheckId::P1, CheckId::P2];

/// Judges a run whose history is intact or whose damage `evidence` already names.
pub fn judge(evidence: &Evidence, operations: impl Iterator<Item = Operation>) -> Judgement {
    judge_readings(evidence, operations.map(Ok::<_, Infallible>))
}

/// Judges a run straight from its history: what comes before damage is judged, and the damage makes
/// the run inconclusive.
pub fn judge_readings<E: Display>(
    evidence: &Evidence,
    readings: impl Iterator<Item = Result<Operation, E>>,
) -> Judgement {
    judge_with(&CHECKERS, evidence, readings)
}

fn judge_with<E: Display>(
    checkers: &[&dyn Checker],
    evidence: &Evidence,
    readings: impl Iterator<Item = Result<Operation, E>>,
) -> Judgement {
    let expected = &evidence.plan.expect.checks;
    let chosen: Vec<&dyn Checker> = checkers
        .iter()
        .copied()
        .filter(|one| ALWAYS.contains(&one.id()) || expected.contains(&one.id()))
        .collect();
    match catch_unwind(AssertUnwindSafe(|| condense(evidence, readings))) {
        Ok((purchases, None)) => try_case(&chosen, evidence, purchases),
        Ok((purchases, Some(damage))) => {
            let damaged = Evidence {
                damage: Some(damage),
                ..evidence.clone()
            };
            try_case(&chosen, &damaged, purchases)
        }
        Err(panic) => {
            let text = format!(
                "the history could not be condensed: {}",
                panic_text(&*panic)
            );
            let results = chosen.iter().map(|one| unanswered(*one, &text)).collect();
            conclude(evidence, results, Figures::default())
        }
    }
}

/// Reads the history up to its end or its first damage.
fn condense<E: Display>(
    evidence: &Evidence,
    readings: impl Iterator<Item = Result<Operation, E>>,
) -> (Purchases, Option<String>) {
    let mut purchases = Purchases::new(evidence, &Ledger::new(evidence));
    for reading in readings {
        match reading {
            Ok(operation) => purchases.observe(&operation),
            Err(error) => return (purchases, Some(error.to_string())),
        }
    }
    (purchases, None)
}

fn try_case(chosen: &[&dyn Checker], evidence: &Evidence, purchases: Purchases) -> Judgement {
    let case = Case::new(evidence, purchases);
    let results = chosen.iter().map(|one| ask(*one, &case)).collect();
    let tally = catch_unwind(AssertUnwindSafe(|| Tally::new(&case))).unwrap_or_default();
    let losses = catch_unwind(AssertUnwindSafe(|| losses(&case))).unwrap_or_default();
    let figures = Figures {
        tally,
        recoveries: case.purchases.outages.recoveries(),
        levels: case.purchases.levels.all(),
        losses,
    };
    conclude(evidence, results, figures)
}

/// One checker's answer; a checker that panics answers nothing, and never takes the others along.
fn ask(checker: &dyn Checker, case: &Case<'_>) -> CheckResult {
    match catch_unwind(AssertUnwindSafe(|| checker.judge(case))) {
        Ok(finding) => finding.into_result(checker.id(), checker.title()),
        Err(panic) => unanswered(
            checker,
            &format!("the checker stopped: {}", panic_text(&*panic)),
        ),
    }
}

fn unanswered(checker: &dyn Checker, why: &str) -> CheckResult {
    let mut finding = Finding::default();
    finding.doubt(why.to_owned());
    finding.into_result(checker.id(), checker.title())
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().map(str::to_owned);
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "panic".to_owned())
}

/// What is told beside the answers.
#[derive(Default)]
struct Figures {
    tally: Tally,
    recoveries: Vec<Recovery>,
    levels: Vec<Level>,
    losses: Vec<Loss>,
}

/// Joins the answers. Expecting no check at all, or one that nobody answered, is never a pass.
fn conclude(evidence: &Evidence, checks: Vec<CheckResult>, figures: Figures) -> Judgement {
    let mut reasons = Vec::new();
    let mut verdict = checks
        .iter()
        .map(|one| one.verdict)
        .max()
        .unwrap_or(Verdict::Inconclusive);
    for wanted in [Verdict::Fail, Verdict::Inconclusive] {
        let of = checks.iter().filter(|one| one.verdict == wanted);
        reasons.extend(of.map(|one| format!("{:?}: {}", one.id, one.detail)));
    }
    let expected = &evidence.plan.expect.checks;
    let missing = expected
        .iter()
        .filter(|id| checks.iter().all(|one| one.id != **id));
    reasons.extend(missing.map(|id| format!("{id:?}: there is no such checker.")));
    if expected.is_empty() {
        reasons.push("The drill expects no check.".to_owned());
    }
    if !reasons.is_empty() {
        verdict = verdict.max(Verdict::Inconclusive);
    }
    Judgement {
        verdict,
        reasons,
        checks,
        recovery_ms: longest(&figures.recoveries),
        tally: figures.tally,
        recoveries: figures.recoveries,
        levels: figures.levels,
        losses: figures.losses,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::super::tiny_history::Tiny;
    use super::*;
    use crate::drill::last_call::KEYS;
    use crate::history::final_state::FinalState;
    use crate::history::final_state::OrderState::{Cancelled, Expired, Paid};

    struct Panics;

    impl Checker for Panics {
        fn id(&self) -> CheckId {
            CheckId::S1
        }

        fn title(&self) -> &'static str {
            "Panics"
        }

        fn judge(&self, _: &Case<'_>) -> Finding {
            panic!("a bug in the checker")
        }
    }

    fn readings(tiny: &Tiny) -> impl Iterator<Item = Result<Operation, &'static str>> {
        tiny.operations.clone().into_iter().map(Ok)
    }

    #[test]
    fn fail_outranks_inconclusive_outranks_pass() {
        let fine = Tiny::sale(1).bought(1).judge(&[CheckId::S1]);
        assert_eq!((fine.verdict, fine.failed()), (Verdict::Pass, Vec::new()));
        let doubtful = Tiny::sale(1).bought(1).with(|e| e.load.sent_share = 0.5);
        assert_eq!(
            doubtful.judge(&[CheckId::S1]).verdict,
            Verdict::Inconclusive
        );
        let both = Tiny::sale(1)
            .bought(1)
            .bought(2)
            .with(|e| e.load.sent_share = 0.5);
        let judgement = both.judge(&[CheckId::S1]);
        assert_eq!(judgement.verdict, Verdict::Fail);
        assert_eq!(judgement.failed(), [CheckId::S1]);
        assert!(judgement.reasons[0].starts_with("S1: 1 × SKU sold beyond its stock"));
        assert!(judgement.reasons[1].starts_with("P1: Only 50 %"));
    }

    #[test]
    fn only_expected_checks_decide_and_the_preconditions_always_do() {
        let lost = || Tiny::sale(2).bought(1).accepted(2);
        let ids = |judgement: Judgement| {
            judgement
                .checks
                .iter()
                .map(|one| one.id)
                .collect::<Vec<_>>()
        };
        assert_eq!(lost().judge(&[CheckId::S1]).verdict, Verdict::Pass);
        assert_eq!(
            ids(lost().judge(&[CheckId::L1, CheckId::S1])),
            [CheckId::P1, CheckId::P2, CheckId::S1, CheckId::L1]
        );
    }

    #[test]
    fn every_checker_has_an_id_and_a_title_of_its_own() {
        let ids: HashSet<CheckId> = CHECKERS.iter().map(|one| one.id()).collect();
        let titles: HashSet<&str> = CHECKERS.iter().map(|one| one.title()).collect();
        assert_eq!((ids.len(), titles.len()), (CHECKERS.len(), CHECKERS.len()));
        assert!(titles.iter().all(|title| title.len() > 10), "{titles:?}");
    }

    fn all() -> Vec<CheckId> {
        CHECKERS.iter().map(|one| one.id()).collect()
    }

    /// Without the clean room, which was scanned whatever the sale did.
    fn of_the_sale(judgement: Judgement) -> impl Iterator<Item = CheckResult> {
        let checks = judgement.checks.into_iter();
        checks.filter(|result| result.id != CheckId::P2)
    }

    #[test]
    fn no_check_and_no_data_are_never_a_pass() {
        assert_eq!(
            Tiny::sale(1).bought(1).judge(&[]).verdict,
            Verdict::Inconclusive
        );
        let empty = Tiny::sale(1).judge(&all());
        assert_eq!(empty.verdict, Verdict::Inconclusive);
        for result in of_the_sale(empty) {
            assert_eq!(result.verdict, Verdict::Inconclusive, "{result:?}");
        }
    }

    #[test]
    fn stores_that_were_never_read_decide_nothing() {
        let tiny = Tiny::sale(1).bought(1).accepted(2).unknown(3);
        let unread = tiny.with(|e| e.stores = FinalState::default());
        let judgement = unread.judge(&all());
        assert_eq!((judgement.tally.accepted, judgement.tally.lost), (2, 0));
        for result in of_the_sale(judgement) {
            assert_eq!(result.verdict, Verdict::Inconclusive, "{result:?}");
        }
    }

    #[test]
    fn a_checker_that_panics_or_is_missing_is_inconclusive() {
        let mut tiny = Tiny::sale(1).bought(1).with(|e| {
            e.load.sent = 1;
            e.load.offered = 1;
        });
        tiny.evidence.plan.expect.checks = vec![CheckId::S1];
        let judge = |checkers: &[&dyn Checker]| {
            let judgement = judge_with(checkers, &tiny.evidence, readings(&tiny));
            (judgement.verdict, judgement.reasons)
        };
        let stopped = "S1: The checker stopped: a bug in the checker.".to_owned();
        assert_eq!(
            judge(&[&Preconditions, &Panics]),
            (Verdict::Inconclusive, vec![stopped])
        );
        let missing = "S1: there is no such checker.".to_owned();
        assert_eq!(
            judge(&[&Preconditions]),
            (Verdict::Inconclusive, vec![missing])
        );
        assert_eq!(
            judge(&[&Preconditions, &OrderOversell]),
            (Verdict::Pass, Vec::new())
        );
    }

    #[test]
    fn damage_in_the_history_is_named_and_what_came_before_is_judged() {
        let mut tiny = Tiny::sale(1).bought(1).bought(2).settled();
        tiny.evidence.plan.expect.checks = vec![CheckId::S1];
        let cut = readings(&tiny).chain([Err("block 7 is damaged")]);
        let judgement = judge_readings(&tiny.evidence, cut);
        assert_eq!(judgement.verdict, Verdict::Fail);
        assert!(judgement.checks[0].detail.contains("block 7 is damaged"));
        assert_eq!(judgement.tally.accepted, 2);
    }

    #[test]
    fn a_panic_while_reading_is_inconclusive() {
        let mut tiny = Tiny::sale(1).bought(1).settled();
        tiny.evidence.plan.expect.checks = vec![CheckId::S1];
        let bad = std::iter::from_fn(|| -> Option<Result<Operation, &str>> { panic!("reader") });
        assert_eq!(
            judge_readings(&tiny.evidence, bad).verdict,
            Verdict::Inconclusive
        );
    }

    #[test]
    fn counts_what_the_sale_did() {
        let tiny = Tiny::sale(9)
            .bought(1)
            .accepted(1)
            .refused(2, "sold_out")
            .unknown(3)
            .order(3, Paid)
            .but_order(|row| row.quantity = 2)
            .accepted(4)
            .rejected(4, "stock_exhausted")
            .accepted(5)
            .rejected(5, "never_reserved")
            .accepted(6)
            .accepted(7)
            .order(7, Cancelled)
            .accepted(8)
            .order(8, Expired)
            .bought(KEYS.start)
            .with(|e| {
                e.stores.end.counters.insert("redelivered".to_owned(), 3.0);
            });
        let expected = Tally {
            stock_units: 9,
            sold_units: 4,
            last_call_units: 1,
            unsold_units: 5,
            buy_attempts: 10,
            refused_attempts: 1,
            unknown_attempts: 1,
            accepted: 7,
            created: 2,
            paid: 1,
            cancelled: 1,
            expired: 1,
            rejected: 2,
            lost: 1,
            broken_promises: 1,
            broken_by_reason: [("stock_exhausted".to_owned(), 1)].into(),
            never_granted: 1,
            unknown_applied: 1,
            redelivered: Some(3),
        };
        assert_eq!(tiny.judge(&[CheckId::S1]).tally, expected);
    }
}
