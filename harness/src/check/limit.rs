//! S5: no buyer holds more of a SKU than the limit. The store decides; the cache is judged by L3.

use std::collections::BTreeMap;

use super::case::{Case, Checker};
use super::finding::Finding;
use super::witness::order;
use super::{CheckId, Witness};
use crate::figures::count;
use crate::history::final_state::OrderRow;

pub struct Limit;

impl Checker for Limit {
    fn id(&self) -> CheckId {
        CheckId::S5
    }

    fn title(&self) -> &'static str {
        "Purchase limit: no buyer's live orders exceed it"
    }

    fn judge(&self, case: &Case<'_>) -> Finding {
        let mut finding = Finding::default();
        case.doubt_unless_read(&mut finding);
        let limit = case.evidence.plan.sale.limit_per_user;
        let holdings = holdings(case);
        for ((user, sku), rows) in &holdings {
            let units: u64 = rows.iter().map(|row| u64::from(row.quantity)).sum();
            if units > u64::from(limit) {
                finding.violation("buyer above the limit", || witness(user, sku, limit, rows));
            }
        }
        let quantity = case.evidence.plan.population.quantity;
        let tried = case.purchases.buyers_over_limit(quantity, limit);
        if tried == 0 && !holdings.is_empty() {
            finding.doubt(
                "no buyer tried for more than the limit; fewer users or some duplicates would test it"
                    .to_owned(),
            );
        }
        let holders = count(holdings.len() as u64);
        finding.fact(format!("{holders} buyers hold stock, limit {limit} each"));
        let tried = count(tried as u64);
        finding.fact(format!("{tried} buyers with an order tried for more"));
        finding
    }
}

type Holdings<'e> = BTreeMap<(&'e str, &'e str), Vec<&'e OrderRow>>;

/// Live orders by user and SKU.
fn holdings<'e>(case: &Case<'e>) -> Holdings<'e> {
    let mut out = Holdings::new();
    for row in case.end().orders.iter().filter(|row| row.state.is_live()) {
        out.entry((&row.user, &row.sku)).or_default().push(row);
    }
    out
}

fn witness(user: &str, sku: &str, limit: u32, rows: &[&OrderRow]) -> Witness {
    let mut events = vec![format!("a buyer may hold {limit} of {sku}")];
    let held = |row: &&OrderRow| format!("at rest: {} (request {})", order(row), row.request_id);
    events.extend(rows.iter().take(6).map(held));
    Witness {
        subject: format!("buyer {user}"),
        events,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Verdict::{Fail, Inconclusive, Pass};
    use super::super::tiny_history::{Tiny, assert_verdicts, unread};
    use super::*;
    use crate::history::final_state::OrderState::{Cancelled, Created};
    use crate::load::population::user_id;

    /// Purchase `key` by buyer u1.
    fn by_u1(tiny: Tiny, key: u64) -> Tiny {
        tiny.accepted(key).but(|one| one.user = 1)
    }

    fn order_of_u1(tiny: Tiny, key: u64) -> Tiny {
        tiny.order(key, Created)
            .but_order(|row| row.user = user_id(1))
    }

    fn refused_to_u1(tiny: Tiny, key: u64) -> Tiny {
        tiny.refused(key, "limit_reached").but(|one| one.user = 1)
    }

    #[test]
    fn buyers_within_the_limit_pass() {
        let again = order_of_u1(
            by_u1(Tiny::sale(5).accepted(1).cancel(1).order(1, Cancelled), 2),
            2,
        );
        let one_of_each = by_u1(Tiny::sale(5).sku(5).bought(1), 2).but(|one| one.sku = 1);
        let one_of_each = refused_to_u1(
            order_of_u1(one_of_each, 2).but_order(|row| row.sku = "s1".into()),
            3,
        );
        assert_verdicts(
            CheckId::S5,
            vec![
                (
                    "the second try was refused",
                    refused_to_u1(Tiny::sale(5).bought(1), 2),
                    Pass,
                ),
                (
                    "a double click was one purchase",
                    Tiny::sale(5).bought(1).accepted(1),
                    Pass,
                ),
                ("cancelling gives the right back", again, Pass),
                ("the limit is per SKU", one_of_each, Pass),
                (
                    "a rejected order holds nothing",
                    by_u1(Tiny::sale(5).bought(1), 2).rejected(2, "x"),
                    Pass,
                ),
            ],
        );
    }

    #[test]
    fn a_buyer_above_the_limit_fails() {
        let twice = || order_of_u1(by_u1(Tiny::sale(5).bought(1), 2), 2);
        assert_verdicts(
            CheckId::S5,
            vec![
                ("two orders", twice(), Fail),
                (
                    "one order of two",
                    Tiny::sale(5).bought(1).but_order(|row| row.quantity = 2),
                    Fail,
                ),
                (
                    "even if the cache was not read",
                    twice().with(|e| unread(&mut e.stores.end, "cache")),
                    Fail,
                ),
                (
                    "an order of which the outcome was unknown",
                    order_of_u1(
                        Tiny::sale(5).bought(1).unknown(2).but(|one| one.user = 1),
                        2,
                    ),
                    Fail,
                ),
            ],
        );
        let limit_two = twice().with(|e| e.plan.sale.limit_per_user = 2);
        assert_verdicts(
            CheckId::S5,
            vec![("at a limit of two", refused_to_u1(limit_two, 3), Pass)],
        );
        let pairs = refused_to_u1(Tiny::sale(9).bought(1), 2).with(|e| {
            e.plan.sale.limit_per_user = 3;
            e.plan.population.quantity = 2;
        });
        let detail = pairs.check(CheckId::S5).detail;
        assert_eq!(
            detail,
            "1 buyers hold stock, limit 3 each; 1 buyers with an order tried for more."
        );
    }

    #[test]
    fn an_untried_limit_is_not_a_pass() {
        assert_verdicts(
            CheckId::S5,
            vec![
                (
                    "nobody tried for more",
                    Tiny::sale(5).bought(1).bought(2),
                    Inconclusive,
                ),
                (
                    "nothing sold",
                    Tiny::sale(5).refused(1, "sold_out"),
                    Inconclusive,
                ),
            ],
        );
    }
}
