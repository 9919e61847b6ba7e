//! What operators and monitoring see: alerts, metrics, health, and the calls that prepare and open a sale.

pub mod alerts;
pub mod dead_letters;
pub mod health;
pub mod letter_schedule;
pub mod log;
pub mod metrics;
#[cfg(feature = "failpoints")]
pub mod rehearsal;
pub mod sale_desk;
pub mod sales;
pub mod top_ups;
