//! What the ways must reach.

use super::Orders;
use super::java::JavaClient;
use super::way::{ONE_BY_ONE, OUTBOX, ROCKETMQ, Taken};

/// What the outbox must take, and how many times as much as with a transaction an order.
const OUTBOX_PER_S: f64 = 5_000.0;
const BATCH_GAIN: f64 = 5.0;
/// What the whole chain over RocketMQ must take of what the Java client commits when it does nothing else.
const CLIENT_SHARE: f64 = 0.5;

/// A line each, as far as there are figures.
pub fn lines(orders: &Orders) -> Vec<String> {
    let outbox = orders.way(OUTBOX);
    let one_by_one = orders.way(ONE_BY_ONE);
    let rocketmq = orders.way(ROCKETMQ);
    let bars = [
        outbox.map(durable),
        outbox.zip(one_by_one).map(|(all, one)| batched(all, one)),
        rocketmq.map(|way| beside_the_client(way, &orders.java_client)),
    ];
    bars.into_iter().flatten().collect()
}

fn durable(outbox: &Taken) -> String {
    let counted = &outbox.counted;
    let per_s = counted.accepted_per_s.min(counted.written_per_s);
    format!(
        "the outbox accepts and writes {per_s:.0}/s, at least {OUTBOX_PER_S:.0}: {}",
        told(per_s >= OUTBOX_PER_S)
    )
}

fn batched(outbox: &Taken, one_by_one: &Taken) -> String {
    let gain = outbox.counted.written_per_s / one_by_one.counted.written_per_s;
    format!(
        "{gain:.1} times as many written as one by one, at least {BATCH_GAIN:.0}: {}",
        told(gain >= BATCH_GAIN)
    )
}

fn beside_the_client(rocketmq: &Taken, client: &JavaClient) -> String {
    let per_s = rocketmq.counted.accepted_per_s;
    let JavaClient::Measured { transactions, .. } = client else {
        return format!("the RocketMQ way accepts {per_s:.0}/s, the Java client was not measured");
    };
    let client_per_s = transactions.committed_per_s;
    let bar_per_s = CLIENT_SHARE * client_per_s;
    let answer = if rocketmq.counted.offered_per_s < bar_per_s {
        "undecided, the drill offers less"
    } else {
        told(per_s >= bar_per_s)
    };
    format!(
        "the RocketMQ way accepts {per_s:.0}/s, at least half of the Java client's {client_per_s:.0}/s: {answer}"
    )
}

fn told(is_met: bool) -> &'static str {
    if is_met { "met" } else { "MISSED" }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{client, taken};
    use super::*;

    #[test]
    fn half_of_the_java_client_s_rate_is_enough() {
        let cases = [
            (2_000.0, 4_000.0, "met"),
            (1_999.0, 4_000.0, "MISSED"),
            (2_999.0, 6_000.0, "MISSED"),
            (3_000.0, 6_002.0, "undecided, the drill offers less"),
        ];
        for (per_s, client_per_s, expected) in cases {
            let line = beside_the_client(&taken(ROCKETMQ, per_s), &client(client_per_s));
            assert_eq!(
                line,
                format!(
                    "the RocketMQ way accepts {per_s:.0}/s, at least half of the Java client's {client_per_s:.0}/s: \
                     {expected}"
                )
            );
        }
    }

    #[test]
    fn a_client_that_was_not_measured_is_no_bar() {
        let client = JavaClient::NotMeasured("no javac".to_owned());
        assert_eq!(
            beside_the_client(&taken(ROCKETMQ, 2_000.0), &client),
            "the RocketMQ way accepts 2000/s, the Java client was not measured"
        );
    }

    #[test]
    fn the_outbox_has_two() {
        let (outbox, one_by_one) = (taken(OUTBOX, 5_000.0), taken(ONE_BY_ONE, 1_001.0));
        assert!(durable(&outbox).ends_with("at least 5000: met"));
        assert!(batched(&outbox, &one_by_one).ends_with("at least 5: MISSED"));
    }
}
