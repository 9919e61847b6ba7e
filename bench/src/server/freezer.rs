//! Freezes the server: its only thread sleeps, as it would in a long pause of a garbage collector.
//! Requests pile up in the kernel meanwhile; nothing is lost.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde::Serialize;
use tokio::time::{Instant, sleep_until};

use super::log::{Freeze, Recorder};

/// When a server freezes, counted from its first answer, so that every tool meets the freezes at the same
/// times of its run however long it takes to start.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Freezes {
    pub first_ms: u64,
    pub every_ms: u64,
    pub length_ms: u64,
}

pub(super) async fn freeze(freezes: Freezes, recorder: Arc<Recorder>) {
    recorder.first_answer().await;
    let mut at = Instant::now() + Duration::from_millis(freezes.first_ms);
    loop {
        sleep_until(at).await;
        let start_ns = recorder.now_ns();
        // Blocking the runtime is the purpose.
        thread::sleep(Duration::from_millis(freezes.length_ms));
        let end_ns = recorder.now_ns();
        recorder.frozen(Freeze { start_ns, end_ns });
        at += Duration::from_millis(freezes.every_ms);
    }
}
