//! P1: the run was a test. Never fails a run: what is missing here makes it inconclusive.

use std::collections::BTreeSet;

use super::CheckId;
use super::case::{Case, Checker, NOT_SET_UP};
use super::finding::Finding;
use super::journeys;
use super::offered;
use crate::drill::plan::Sku;
use crate::drill::top_up::TopUpOutcome;
use crate::faults::FaultEvent;
use crate::figures::signed;

pub struct Preconditions;

impl Checker for Preconditions {
    fn id(&self) -> CheckId {
        CheckId::P1
    }

    fn title(&self) -> &'static str {
        "Valid test: load kept its schedule, faults bit and healed, stores were read"
    }

    fn judge(&self, case: &Case<'_>) -> Finding {
        let mut finding = Finding::default();
        judge_history(case, &mut finding);
        offered::judge(case, &mut finding);
        journeys::judge(case, &mut finding);
        judge_start(case, &mut finding);
        judge_end(case, &mut finding);
        judge_routes(case, &mut finding);
        judge_top_ups(case, &mut finding);
        judge_fault_count(case, &mut finding);
        for fault in &case.evidence.faults {
            judge_fault(case, fault, &mut finding);
        }
        finding
    }
}

fn judge_history(case: &Case<'_>, finding: &mut Finding) {
    let purchases = &case.purchases;
    if purchases.operations == 0 {
        finding.doubt("the history is empty".to_owned());
    }
    if let Some(gap) = case.history_gap() {
        finding.doubt(gap);
    }
    if purchases.foreign > 0 {
        let foreign = purchases.foreign;
        finding.doubt(format!(
            "{foreign} records name a SKU that the plan does not have"
        ));
    }
    if purchases.accepted_buys == 0 {
        finding.doubt("no purchase was accepted".to_owned());
    }
}

fn judge_start(case: &Case<'_>, finding: &mut Finding) {
    let start = &case.evidence.stores.start;
    if !start.unread.is_empty() {
        finding.doubt(format!(
            "the stores were not read at the start ({})",
            start.unread.join("; ")
        ));
        return;
    }
    if !start.orders.is_empty() {
        finding.doubt(format!(
            "{} orders were there before the first request",
            start.orders.len()
        ));
    }
    if let Some(left) = start.queue_backlog.filter(|left| *left > 0) {
        finding.doubt(format!(
            "{left} messages were queued before the first request"
        ));
    }
    for sku in &case.evidence.plan.sale.skus {
        if !case.was_set_up(&sku.id, sku.stock) {
            finding.doubt_about(&sku.id, NOT_SET_UP);
        }
        if !was_warm(case, sku) {
            finding.doubt_about(&sku.id, "the cache did not start with the planned stock");
        }
    }
}

/// The cache offered the planned stock and nobody held any.
fn was_warm(case: &Case<'_>, sku: &Sku) -> bool {
    if !case.evidence.plan.target.state.has_cache() {
        return true;
    }
    let row = case
        .evidence
        .stores
        .start
        .cache
        .iter()
        .find(|row| row.sku == sku.id);
    row.is_some_and(|row| {
        row.available == Some(i64::from(sku.stock)) && row.held.values().all(|units| *units == 0)
    })
}

fn judge_end(case: &Case<'_>, finding: &mut Finding) {
    if let Some(unread) = case.unread() {
        finding.doubt(unread);
    }
}

/// The service went through the proxy, as far as was looked.
fn judge_routes(case: &Case<'_>, finding: &mut Finding) {
    let samples = &case.evidence.samples;
    if samples.is_empty() {
        finding.doubt("no sample tells whether the service went past the fault proxy".to_owned());
    }
    let bypasses: BTreeSet<&String> = samples.iter().flat_map(|sample| &sample.bypasses).collect();
    for bypass in bypasses {
        finding.doubt(format!(
            "{bypass}, past its proxied link, where no fault reaches it: give it the stack's variables"
        ));
    }
}

/// A drill that plans top-ups is about what follows from them.
fn judge_top_ups(case: &Case<'_>, finding: &mut Finding) {
    let (made, planned) = (&case.evidence.top_ups, &case.evidence.plan.sale.top_ups);
    if made.len() < planned.len() {
        let [made, planned] = [made.len(), planned.len()];
        finding.doubt(format!(
            "what became of {made} of {planned} planned top-ups is known"
        ));
    }
    for one in made {
        match one.outcome {
            TopUpOutcome::OnSale { .. } => finding.fact(one.news()),
            _ => finding.doubt(format!("top-up: {}", one.news())),
        }
    }
}

fn judge_fault_count(case: &Case<'_>, finding: &mut Finding) {
    let count = |kind: &str| {
        case.evidence
            .faults
            .iter()
            .filter(|one| one.kind == kind)
            .count()
    };
    let planned = &case.evidence.plan.faults;
    for (at, one) in planned.iter().enumerate() {
        let kind = one.fault.kind();
        let wanted = planned
            .iter()
            .filter(|other| other.fault.kind() == kind)
            .count();
        let is_first = planned.iter().position(|other| other.fault.kind() == kind) == Some(at);
        if is_first && count(kind) < wanted {
            finding.doubt(format!(
                "{} of {wanted} planned {kind} were injected",
                count(kind)
            ));
        }
    }
}

fn judge_fault(case: &Case<'_>, fault: &FaultEvent, finding: &mut Finding) {
    let kind = &fault.kind;
    if let Some(error) = &fault.error {
        finding.doubt(format!("{kind}: {error}"));
    }
    if fault.receipt.is_none() {
        finding.doubt(format!("{kind}: no evidence that the fault bit"));
    }
    if fault.heals && fault.healed_at_ms.is_none() {
        finding.doubt(format!("{kind}: was not healed"));
    }
    if fault.injected_at_ms >= case.evidence.load.duration_ms {
        finding.doubt(format!("{kind}: injected after the load had ended"));
    }
    match stock_left_at(case, fault.injected_at_ms) {
        Some(left) if left <= 0 => finding.fact(format!(
            "warning: {kind} was injected when everything was sold; raise the stock or move the fault"
        )),
        Some(left) => finding.fact(format!("{kind} injected with {} units left", signed(left))),
        None => {}
    }
}

/// Units left when a fault was injected: the last sample before it, of the cache where there is one.
fn stock_left_at(case: &Case<'_>, at_ms: u64) -> Option<i64> {
    let at_ms = i64::try_from(at_ms).unwrap_or(i64::MAX);
    let before = case
        .evidence
        .samples
        .iter()
        .take_while(|sample| sample.at_ms <= at_ms);
    before
        .filter_map(|sample| sample.cache_available.or(sample.store_available))
        .last()
}

#[cfg(test)]
mod tests {
    use super::super::Evidence;
    use super::super::Verdict::{Inconclusive, Pass};
    use super::super::tiny_history::{Tiny, assert_verdicts, broker_killed, unread};
    use super::*;
    use crate::drill::plan::PlannedFault;
    use crate::faults::{BrokerKill, Fault};
    use crate::observe::Sample;

    fn valid(change: impl FnOnce(&mut Evidence)) -> Tiny {
        Tiny::sale(2).bought(1).with(change)
    }

    /// A planned broker kill and what became of it.
    fn with_fault(change: impl FnOnce(&mut FaultEvent)) -> Tiny {
        let mut event = broker_killed(5_000, 9_000);
        change(&mut event);
        valid(|e| {
            e.plan.faults.push(PlannedFault {
                at_ms: 5_000,
                for_ms: Some(3_000),
                fault: Fault::BrokerKill(BrokerKill { cut_requests_ms: 0 }),
            });
            e.faults.push(event);
        })
    }

    #[test]
    fn a_valid_run_passes() {
        let raise = |event: &mut FaultEvent| {
            event.heals = false;
            event.healed_at_ms = None;
        };
        assert_verdicts(
            CheckId::P1,
            vec![
                ("no fault", valid(|_| ()), Pass),
                ("a fault that bit and healed", with_fault(|_| ()), Pass),
                ("a change of state needs no heal", with_fault(raise), Pass),
            ],
        );
    }

    #[test]
    fn an_invalid_history_is_inconclusive() {
        // Else the record would be missing, too.
        let of_no_sku = || {
            let tiny = Tiny::sale(2).bought(1).accepted(2).but(|one| one.sku = 1);
            tiny.with(|e| e.load.sent = 1)
        };
        assert_verdicts(
            CheckId::P1,
            vec![
                ("no history", Tiny::sale(2), Inconclusive),
                (
                    "nothing accepted",
                    Tiny::sale(2).refused(1, "sold_out"),
                    Inconclusive,
                ),
                (
                    "history damaged",
                    valid(|e| e.damage = Some("cut".into())),
                    Inconclusive,
                ),
                ("history short", valid(|e| e.load.sent = 2), Inconclusive),
                ("record of no SKU", of_no_sku(), Inconclusive),
            ],
        );
        let detail = of_no_sku().check(CheckId::P1).detail;
        assert!(detail.contains("1 records name a SKU"), "{detail}");
    }

    #[test]
    fn unprepared_or_unread_stores_are_inconclusive() {
        let order = |e: &mut Evidence| e.stores.start.orders.push(e.stores.end.orders[0].clone());
        let held = |e: &mut Evidence| {
            e.stores.start.cache[0].held.insert("u9".to_owned(), 1);
        };
        assert_verdicts(
            CheckId::P1,
            vec![
                ("an old order", valid(order), Inconclusive),
                (
                    "no stock",
                    valid(|e| e.stores.start.stock.clear()),
                    Inconclusive,
                ),
                (
                    "stock partly sold",
                    valid(|e| e.stores.start.stock[0].available = 1),
                    Inconclusive,
                ),
                (
                    "cold cache",
                    valid(|e| e.stores.start.cache[0].available = None),
                    Inconclusive,
                ),
                (
                    "cache not read",
                    valid(|e| e.stores.start.cache.clear()),
                    Inconclusive,
                ),
                ("an old hold", valid(held), Inconclusive),
                (
                    "old messages",
                    valid(|e| e.stores.start.queue_backlog = Some(1)),
                    Inconclusive,
                ),
                (
                    "start not read",
                    valid(|e| unread(&mut e.stores.start, "orders")),
                    Inconclusive,
                ),
                (
                    "end not read",
                    valid(|e| unread(&mut e.stores.end, "orders")),
                    Inconclusive,
                ),
            ],
        );
    }

    #[test]
    fn a_service_past_the_proxy_is_inconclusive() {
        let past = || valid(|e| e.samples[0].bypasses.push("service-0 to mysql".to_owned()));
        assert_verdicts(
            CheckId::P1,
            vec![
                ("seen in a sample", past(), Inconclusive),
                ("not looked", valid(|e| e.samples.clear()), Inconclusive),
            ],
        );
        let detail = past().check(CheckId::P1).detail;
        assert!(detail.contains("service-0 to mysql, past its"), "{detail}");
    }

    #[test]
    fn a_fault_without_proof_is_inconclusive() {
        assert_verdicts(
            CheckId::P1,
            vec![
                ("no receipt", with_fault(|f| f.receipt = None), Inconclusive),
                (
                    "not healed",
                    with_fault(|f| f.healed_at_ms = None),
                    Inconclusive,
                ),
                (
                    "error",
                    with_fault(|f| f.error = Some("no such node".into())),
                    Inconclusive,
                ),
                (
                    "after the load",
                    with_fault(|f| f.injected_at_ms = 60_000),
                    Inconclusive,
                ),
                (
                    "not injected",
                    with_fault(|_| ()).with(|e| e.faults.clear()),
                    Inconclusive,
                ),
                (
                    "of another kind",
                    with_fault(|f| f.kind = "other".into()),
                    Inconclusive,
                ),
            ],
        );
    }

    #[test]
    fn a_top_up_that_was_not_made_is_inconclusive() {
        let topped_up = || Tiny::sale(1).bought(1).top_up(1).bought(2);
        let ended = |outcome: TopUpOutcome| topped_up().but_top_up(outcome);
        let (not_asked, no_answer) = ("cancelled".to_owned(), "503".to_owned());
        assert_verdicts(
            CheckId::P1,
            vec![
                ("made", topped_up(), Pass),
                (
                    "refused",
                    ended(TopUpOutcome::Refused { why: not_asked }),
                    Inconclusive,
                ),
                (
                    "not answered",
                    ended(TopUpOutcome::Unknown { why: no_answer }),
                    Inconclusive,
                ),
                (
                    "no word of it",
                    topped_up().with(|e| e.top_ups.clear()),
                    Inconclusive,
                ),
            ],
        );
        let detail = topped_up().check(CheckId::P1).detail;
        assert!(
            detail.contains("1 units of s0 asked for at 2 ms, on sale since 7 ms"),
            "{detail}"
        );
    }

    #[test]
    fn warns_of_a_fault_that_met_no_stock() {
        let injected_with = |left: i64| {
            let tiny = with_fault(|_| ()).with(|e| {
                let samples =
                    [(4_900, 8), (5_000, left), (5_400, 9)].map(|(at_ms, units)| Sample {
                        at_ms,
                        cache_available: Some(units),
                        ..Sample::default()
                    });
                e.samples.extend(samples);
            });
            tiny.check(CheckId::P1).detail.to_lowercase()
        };
        let (none, seven) = (injected_with(0), injected_with(7));
        assert!(none.contains("warning"), "{none}");
        assert!(seven.contains("injected with 7 units left"), "{seven}");
    }
}
