//! The figures as Markdown.

use std::fmt::Write as _;

use super::Orders;

/// What the outbox must take, and how many times as much as with a transaction an order.
const OUTBOX_PER_S: f64 = 5_000.0;
const BATCH_GAIN: f64 = 5.0;

pub fn markdown(orders: &Orders) -> String {
    let machine = &orders.machine;
    let mut out = format!(
        "# Orders, accepted and durable\n\n{}, {} cores, Linux {}. The load generator, the service and all servers share \
         the machine.\n\n| way | verdict | offered/s | accepted/s | CPU an order, µs | of which |\n|---|---|---|---|---|---|\n",
        machine.cpu, machine.cores, machine.kernel
    );
    for taken in &orders.ways {
        let per_order = |seconds: f64| seconds * 1e6 / taken.accepted.max(1) as f64;
        let parts = taken.spent.0.iter();
        let parts = parts.map(|(name, seconds)| format!("{name} {:.0}", per_order(*seconds)));
        let _ = writeln!(
            out,
            "| {} | {} | {:.0} | {:.0} | {:.0} | {} |",
            taken.way.name,
            taken.verdict,
            taken.offered_per_s,
            taken.accepted_per_s,
            per_order(taken.spent.total_s()),
            parts.collect::<Vec<_>>().join(", ")
        );
    }
    let told = |is_met| if is_met { "met" } else { "MISSED" };
    if let Some(outbox) = orders.ways.iter().find(|taken| taken.way.name == "outbox") {
        let per_s = outbox.accepted_per_s;
        let _ = writeln!(
            out,
            "\nbar: the outbox accepts {per_s:.0}/s, at least {OUTBOX_PER_S:.0}: {}",
            told(per_s >= OUTBOX_PER_S)
        );
    }
    if let Some(gain) = orders.ratio("outbox", "outbox, one by one") {
        let _ = writeln!(
            out,
            "bar: {gain:.1} times as many as one by one, at least {BATCH_GAIN:.0}: {}",
            told(gain >= BATCH_GAIN)
        );
    }
    out
}
