//! What the generator does besides following a schedule tick by tick: rest, and keep connections full.

use flashdrill::load::spec::Loop;

use crate::run::{ran, spec};
use crate::script::{Act, Script, accepted};

/// Two requests a second: the generator sleeps between them, and yet sends each on time. The machine may wake it late once.
#[test]
fn a_quiet_generator_costs_next_to_nothing_and_is_on_time() {
    let script = Script::run(|_| Act::Write(accepted()));
    let summary = ran(&spec(2.0, 3_000), script.address).summary;
    assert_eq!(summary.sent, 6, "{summary:?}");
    assert!(summary.late <= summary.strain.stalls.min(1), "{summary:?}");
    assert!(
        summary.generator_cpu_ms * 20 < summary.duration_ms,
        "ticks would have cost more: {summary:?}"
    );
}

#[test]
fn a_closed_loop_keeps_every_connection_full_and_no_fuller() {
    for depth in [1, 4] {
        let script = Script::run(|_| Act::Write(accepted()));
        let mut spec = spec(0.0, 300);
        spec.kind = Loop::Closed;
        spec.load.depth = depth;
        let ran = ran(&spec, script.address);
        let summary = &ran.summary;
        assert!(summary.sent > 100, "{summary:?}");
        assert_eq!((summary.sent, summary.dropped), (summary.offered, 0));
        assert_eq!(ran.count("accepted"), summary.sent);
        // Never more under way than there is room for: at any send, so many at most are unanswered.
        let most = 8 * depth as usize;
        let mut moments: Vec<(u64, i64)> = ran
            .operations
            .iter()
            .flat_map(|one| [(one.sent_ns, 1), (one.completed_ns, -1)])
            .collect();
        moments.sort_unstable();
        let (mut under_way, mut peak) = (0, 0);
        for (_, change) in moments {
            under_way += change;
            peak = peak.max(under_way);
        }
        assert!(usize::try_from(peak).unwrap() <= most, "{peak} of {most}");
    }
}

#[test]
fn what_held_the_schedule_up_is_said() {
    let script = Script::run(|_| Act::Stall);
    let mut spec = spec(200.0, 600);
    spec.load.connections = 1;
    spec.load.timeout_ms = 300;
    let summary = ran(&spec, script.address).summary;
    let cause = summary.held_up_by.unwrap();
    assert!(cause.contains("no connection had room"), "{cause}");
    assert_eq!(summary.statuses.values().sum::<u64>(), 0);
}
