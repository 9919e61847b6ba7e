//! Lanes on which orders are applied side by side, none of which shares a SKU with another.

use std::collections::BTreeMap;

use crate::sale::order::OrderMessage;

/// Batches applied at the same time; one SKU is never in two of them.
const LANES: usize = 4;
/// Below this many messages another lane is not worth its transaction.
const LANE_FILL: usize = 25;

/// Distributes orders over lanes, all orders of a SKU on one lane and in their order: the hot row is never
/// fought for, and small SKUs share a transaction.
pub(super) fn by_lane(orders: Vec<OrderMessage>) -> Vec<Vec<OrderMessage>> {
    let lanes = orders.len().div_ceil(LANE_FILL).clamp(1, LANES);
    let mut by_sku: BTreeMap<(String, String), Vec<OrderMessage>> = BTreeMap::new();
    for order in orders {
        by_sku
            .entry((order.sale.clone(), order.sku.clone()))
            .or_default()
            .push(order);
    }
    let mut skus: Vec<Vec<OrderMessage>> = by_sku.into_values().collect();
    skus.sort_by_key(|orders| std::cmp::Reverse(orders.len()));
    let mut filled: Vec<Vec<OrderMessage>> = vec![Vec::new(); lanes];
    for orders in skus {
        if let Some(emptiest) = filled.iter_mut().min_by_key(|lane| lane.len()) {
            emptiest.extend(orders);
        }
    }
    filled.retain(|lane| !lane.is_empty());
    filled
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use super::*;

    fn orders(sizes: &[(&str, usize)]) -> Vec<OrderMessage> {
        let mut orders = Vec::new();
        for (sku, size) in sizes {
            for n in 0..*size {
                orders.push(OrderMessage {
                    order_id: format!("{sku}-{n}"),
                    sale: "sale".to_owned(),
                    sku: (*sku).to_owned(),
                    user: "user".to_owned(),
                    quantity: 1,
                    request_id: "request".to_owned(),
                    at_ms: n as u64,
                });
            }
        }
        orders
    }

    #[test]
    fn lanes_share_skus_out_and_never_split_one() {
        let table: [(&[(&str, usize)], usize); 5] = [
            (&[], 0),
            (&[("a", 1)], 1),
            (&[("a", 500)], 1),
            (&[("a", 10), ("b", 10)], 1),
            (&[("a", 100), ("b", 60), ("c", 50), ("d", 40), ("e", 30)], 4),
        ];
        for (sizes, expected) in table {
            let all = orders(sizes);
            let lanes = by_lane(all.clone());
            assert_eq!(lanes.len(), expected, "{sizes:?}");
            let mut lane_of: HashMap<&str, usize> = HashMap::new();
            for (number, lane) in lanes.iter().enumerate() {
                for order in lane {
                    let lane = lane_of.entry(&order.sku).or_insert(number);
                    assert_eq!(*lane, number, "{} is on two lanes", order.sku);
                }
            }
            let seen: HashSet<&str> = lanes
                .iter()
                .flatten()
                .map(|order| order.order_id.as_str())
                .collect();
            assert_eq!(seen.len(), all.len(), "nothing lost, nothing doubled");
        }
    }
}
