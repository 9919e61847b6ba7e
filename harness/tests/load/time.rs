//! Times count from the intended start: what waited because of the server is the server's.

use std::time::Duration;

use crate::run::{ran, spec};
use crate::script::{Act, Script, accepted};

const FREEZE: Duration = Duration::from_millis(400);

/// Two connections, one request each, both frozen once in the middle of the run.
#[test]
fn a_frozen_server_shows_in_response_time_though_few_requests_saw_it() {
    let script = Script::run(|number| match number {
        200 | 201 => Act::WriteAfter(FREEZE, accepted()),
        _ => Act::Write(accepted()),
    });
    let mut spec = spec(500.0, 2_000);
    spec.load.connections = 2;
    let summary = ran(&spec, script.address).summary;
    assert_eq!(summary.sent, 1_000);
    let freeze_us = FREEZE.as_micros() as u64;
    assert!(summary.response_us.p99 > freeze_us / 2, "{summary:?}");
    assert!(
        summary.service_us.p99 < freeze_us / 4,
        "two of a thousand requests saw the freeze: {summary:?}"
    );
    assert!(summary.schedule_lag_us.max > freeze_us / 2, "{summary:?}");
    assert!(summary.late > 50, "{summary:?}");
    assert_eq!(summary.dropped, 0);
}

#[test]
fn arrivals_that_wait_too_long_are_dropped_and_counted() {
    let script = Script::run(|_| Act::Stall);
    let mut spec = spec(200.0, 1_000);
    spec.load.connections = 1;
    spec.load.timeout_ms = 200;
    let ran = ran(&spec, script.address);
    let summary = &ran.summary;
    assert!(summary.sent > 0 && summary.dropped > 0 && summary.late > 0);
    assert_eq!(summary.sent + summary.dropped, summary.offered);
    assert_eq!(ran.operations.len() as u64, summary.sent);
    assert_eq!(ran.count("unknown:timeout"), summary.sent);
    assert!(summary.sent_share < 0.5);
    assert_eq!(ran.progress.counts().dropped, summary.dropped);
}
