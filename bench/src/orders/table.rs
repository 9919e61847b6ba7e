//! The figures as Markdown.

use std::fmt::Write as _;

use super::java::{JavaClient, THREADS};
use super::spent::Spent;
use super::way::Taken;
use super::{Orders, bars};

pub fn markdown(orders: &Orders) -> String {
    let machine = &orders.machine;
    let mut out = format!(
        "# Orders, accepted and durable\n\n{}, {} cores, Linux {}. The load generator, the service and all servers share \
         the machine. The Java client sends transactions of RocketMQ and nothing else, to servers of the same \
         kind. Both are counted after a warm-up; written is what MySQL had by then; the CPU is that of the whole load.\n\n\
         | way | verdict | offered/s | accepted/s | written/s | CPU an order, µs | of which |\n|---|---|---|---|---|---|---|\n",
        machine.cpu, machine.cores, machine.kernel
    );
    for taken in &orders.ways {
        let _ = writeln!(out, "{}", way(taken));
    }
    let _ = writeln!(out, "{}\n", client(&orders.java_client));
    for bar in bars::lines(orders) {
        let _ = writeln!(out, "bar: {bar}");
    }
    out
}

fn way(taken: &Taken) -> String {
    format!(
        "| {} | {} | {:.0} | {:.0} | {:.0} | {} |",
        taken.way.name,
        taken.verdict,
        taken.counted.offered_per_s,
        taken.counted.accepted_per_s,
        taken.counted.written_per_s,
        cpu(&taken.spent, taken.accepted)
    )
}

fn client(client: &JavaClient) -> String {
    match client {
        JavaClient::Measured {
            transactions,
            spent,
        } => format!(
            "| Java client alone | {} failed | by {THREADS} threads | {:.0} | | {} |",
            transactions.failures,
            transactions.committed_per_s,
            cpu(spent, transactions.committed)
        ),
        JavaClient::NotMeasured(why) => {
            format!("| Java client alone | not measured: {why} | | | | | |")
        }
    }
}

/// The last two columns.
fn cpu(spent: &Spent, orders: u64) -> String {
    let per_order = |seconds: f64| seconds * 1e6 / orders.max(1) as f64;
    let parts = spent.0.iter();
    let parts = parts.map(|(name, seconds)| format!("{name} {:.0}", per_order(*seconds)));
    let parts: Vec<_> = parts.collect();
    format!("{:.0} | {}", per_order(spent.total_s()), parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{client as measured, taken};
    use super::*;

    #[test]
    fn every_row_has_the_columns_of_the_head() {
        let rows = [
            (
                way(&taken("rocketmq", 2_000.0)),
                "| rocketmq | pass | 3000 | 2000 | 2000 | 500 | java 500 |",
            ),
            (
                client(&measured(4_000.0)),
                "| Java client alone | 0 failed | by 64 threads | 4000 | | 250 | java 250 |",
            ),
            (
                client(&JavaClient::NotMeasured("no javac".to_owned())),
                "| Java client alone | not measured: no javac | | | | | |",
            ),
        ];
        for (row, expected) in rows {
            assert_eq!(row, expected);
            assert_eq!(row.matches('|').count(), 8);
        }
    }
}
