//! Servers that close, reset, stall, stop half way or answer in unusual ways: the outcome says so,
//! and the schedule goes on.

use std::time::Duration;

use flashdrill::history::operation::Outcome;

use crate::run::{Ran, ran, spec};
use crate::script::{Act, Script, accepted, answer};

/// 200 requests, of which the server treats one in `every` as `bad` says.
fn with_bad(every: u64, depth: u32, bad: Act) -> Ran {
    let script = Script::run(move |number| {
        if number % every == every - 1 {
            bad.clone()
        } else {
            Act::Write(accepted())
        }
    });
    let mut spec = spec(400.0, 500);
    // More than can be stalled at a time.
    spec.load.connections = 32;
    spec.load.depth = depth;
    spec.load.timeout_ms = 600;
    ran(&spec, script.address)
}

fn cases() -> Vec<(&'static str, Act)> {
    let half = accepted()[..30].to_vec();
    vec![
        ("closed", Act::WriteAndClose(vec![])),
        ("reset", Act::Reset),
        ("half_answer", Act::WriteAndClose(half.clone())),
        ("timeout", Act::Stall),
        ("timeout", Act::WriteAfter(Duration::from_secs(1), half)),
        (
            "bad_answer",
            Act::Write(b"220 mail.example ESMTP\r\n".to_vec()),
        ),
        (
            "bad_answer",
            Act::Write(b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n".to_vec()),
        ),
        ("unmapped_answer", Act::Write(answer(418, ""))),
    ]
}

#[test]
fn each_is_unknown_with_its_reason_and_the_schedule_goes_on() {
    for (reason, act) in cases() {
        let ran = with_bad(10, 1, act.clone());
        assert_eq!(ran.summary.sent, 200, "{act:?} {:?}", ran.summary);
        assert_eq!(ran.operations.len(), 200, "{act:?}");
        let unknown = format!("unknown:{reason}");
        assert_eq!(
            ran.count(&unknown),
            20,
            "{act:?} {:?}",
            ran.summary.outcomes
        );
        assert_eq!(ran.count("accepted"), 180, "{act:?}");
        for operation in &ran.operations {
            if operation.outcome == Outcome::Unknown {
                assert_eq!(ran.reason(operation), reason);
                assert_eq!(
                    operation.status,
                    if reason == "unmapped_answer" { 418 } else { 0 }
                );
            }
        }
        assert!(ran.summary.last_outage_ms.is_some());
    }
}

#[test]
fn with_pipelining_every_request_has_one_outcome() {
    for (reason, act) in cases() {
        let ran = with_bad(10, 8, act.clone());
        assert_eq!(ran.summary.sent + ran.summary.dropped, 200, "{act:?}");
        assert_eq!(ran.operations.len() as u64, ran.summary.sent, "{act:?}");
        let unknown = ran.count(&format!("unknown:{reason}"));
        assert!(unknown > 0, "{act:?} {:?}", ran.summary.outcomes);
        let mut indexes: Vec<u64> = ran.operations.iter().map(|o| o.index).collect();
        indexes.sort_unstable();
        indexes.dedup();
        assert_eq!(indexes.len(), ran.operations.len(), "{act:?}");
    }
}

#[test]
fn unusual_answers_are_understood() {
    let body = r#"{"order_id":"o-77"}"#;
    let (start, end) = body.split_at(9);
    let chunked = format!(
        "HTTP/1.1 202 A\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{start}\r\n{:x}\r\n{end}\r\n0\r\n\r\n",
        end.len()
    );
    let interim = format!(
        "HTTP/1.1 100 Continue\r\n\r\n{}",
        String::from_utf8(answer(202, body)).unwrap()
    );
    let closing = format!(
        "HTTP/1.1 202 A\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let endless = format!("HTTP/1.1 202 A\r\n\r\n{body}");
    let cases = [
        Act::Write(chunked.into_bytes()),
        Act::Write(interim.into_bytes()),
        Act::WriteAndClose(closing.into_bytes()),
        Act::WriteAndClose(endless.into_bytes()),
    ];
    for act in cases {
        let told = act.clone();
        let script = Script::run(move |_| told.clone());
        let ran = ran(&spec(400.0, 500), script.address);
        assert_eq!(
            ran.count("accepted"),
            200,
            "{act:?} {:?}",
            ran.summary.outcomes
        );
        let ids = ran.operations.iter().map(|o| o.order_id.as_deref());
        assert!(ids.into_iter().all(|id| id == Some("o-77")), "{act:?}");
    }
}

/// A server that closes without having said so may do it while the next request is on its way.
#[test]
fn a_close_without_notice_loses_at_most_what_was_sent_into_it() {
    let script = Script::run(|_| Act::WriteAndClose(accepted()));
    let ran = ran(&spec(400.0, 500), script.address);
    let crossed = ran.count("unknown:closed") + ran.count("unknown:reset");
    assert_eq!(ran.count("accepted") + crossed, 200);
    assert!(crossed < 100, "{:?}", ran.summary.outcomes);
    assert_eq!(ran.summary.dropped, 0);
}

#[test]
fn an_answer_in_pieces_is_put_together() {
    let whole = accepted();
    let (first, second) = whole.split_at(25);
    let (first, second) = (first.to_vec(), second.to_vec());
    let script = Script::run(move |number| {
        // The second half of each answer travels with the first half of the next.
        Act::Write(if number == 0 {
            first.clone()
        } else {
            [&second[..], &first[..]].concat()
        })
    });
    let mut spec = spec(400.0, 500);
    spec.load.connections = 1;
    spec.load.depth = 4;
    spec.load.timeout_ms = 300;
    let ran = ran(&spec, script.address);
    assert_eq!(ran.count("accepted"), 199);
    assert_eq!(
        ran.count("unknown:timeout"),
        1,
        "the last never got its end"
    );
}

#[test]
fn an_answer_nobody_asked_for_ends_the_connection_and_loses_nothing_else() {
    let twice = [accepted(), accepted()].concat();
    let ran = with_bad(10, 1, Act::Write(twice));
    assert_eq!(ran.summary.sent, 200);
    let answered = ran.count("accepted");
    let lost = ran.count("unknown:bad_answer");
    assert_eq!(answered + lost + ran.count("unknown:reset"), 200);
    assert!(answered >= 180, "{:?}", ran.summary.outcomes);
}

/// What a proxy does whose server is dead: the connect is no sign of life, so reconnects slow down
/// and most arrivals find no connection.
#[test]
fn a_server_that_only_accepts_is_not_stormed() {
    let script = Script::run(|_| Act::WriteAndClose(vec![]));
    let mut spec = spec(1_000.0, 1_000);
    spec.load.timeout_ms = 100;
    let ran = ran(&spec, script.address);
    assert_eq!(ran.count("unknown:closed"), ran.summary.sent);
    assert_eq!(ran.summary.sent + ran.summary.dropped, 1_000);
    assert!(
        ran.summary.sent > 0 && ran.summary.sent < 200,
        "{}",
        ran.summary.sent
    );
}

#[test]
fn a_server_that_dies_and_comes_back_is_found_again() {
    let first = Script::run(|number| {
        if number < 100 {
            Act::Write(accepted())
        } else {
            Act::Reset
        }
    });
    let address = first.address;
    let mut spec = spec(400.0, 1_500);
    spec.load.timeout_ms = 300;
    let returned = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(500));
        drop(first);
        std::thread::sleep(Duration::from_millis(300));
        Script::run_at(address, |_| Act::Write(accepted()))
    });
    let ran = ran(&spec, address);
    drop(returned.join().unwrap());
    assert!(ran.count("accepted") > 200, "{:?}", ran.summary.outcomes);
    assert!(ran.count("unknown:reset") > 0, "{:?}", ran.summary.outcomes);
    assert!(ran.summary.dropped > 0, "nobody listened for a while");
    let last = ran.operations.last().unwrap();
    assert_eq!(last.outcome, Outcome::Accepted);
    assert_eq!(ran.summary.offered, 600);
    assert_eq!(ran.summary.sent + ran.summary.dropped, 600);
}
