//! Tells how a load goes while it runs.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use super::narrate::Narrate;
use crate::load::Progress;

const EVERY: Duration = Duration::from_millis(500);

/// Tells until it is dropped.
pub async fn watch(progress: &Progress, start: Instant, narrate: &dyn Narrate) -> Infallible {
    let mut before = progress.counts();
    loop {
        tokio::time::sleep(EVERY).await;
        let now = progress.counts();
        let sent_per_s = (now.sent - before.sent) as f64 / EVERY.as_secs_f64();
        narrate.live(&format!(
            "{:5.1} s  {sent_per_s:6.0} req/s  accepted {}  refused {}  unknown {}  dropped {}",
            start.elapsed().as_secs_f64(),
            now.accepted,
            now.refused,
            now.unknown,
            now.dropped
        ));
        before = now;
    }
}
