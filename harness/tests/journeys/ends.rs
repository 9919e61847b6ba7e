//! How journeys end, and what of them is recorded.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use flashdrill::history::operation::{Operation, OperationKind, Outcome};
use flashdrill::journeys::step::{End, Step};
use flashdrill::journeys::{JourneySummary, is_journey};
use flashdrill::load::population::{request_id, user_id};

use crate::script::{Act, Script, answer};
use crate::shop::Shop;
use crate::trip::{plan, request, travel, try_travel};

fn of_kind(operations: &[Operation], kind: OperationKind) -> Vec<&Operation> {
    operations.iter().filter(|one| one.kind == kind).collect()
}

/// Goose, the history and the ends tell of the same requests.
fn figures_agree(summary: &JourneySummary, operations: &[Operation]) {
    assert_eq!(summary.error, None, "{summary:#?}");
    assert_eq!(summary.unended(), 0, "{summary:#?}");
    for (step, kind) in [
        (Step::Buy, OperationKind::Buy),
        (Step::Poll, OperationKind::Status),
        (Step::Pay, OperationKind::Pay),
        (Step::Cancel, OperationKind::Cancel),
    ] {
        let counted = summary.steps.get(&step).map_or(0, |one| one.requests);
        let recorded = of_kind(operations, kind).len() as u64;
        assert_eq!(counted, recorded, "{step:?}: {summary:#?}");
    }
    let buys = of_kind(operations, OperationKind::Buy).len() as u64;
    assert_eq!(summary.buys, buys);
}

#[test]
fn buyers_go_all_the_way_until_all_is_sold() {
    let shop = Shop::open(40, "created");
    let plan = plan(1_500);
    let trip = travel(&plan, shop.address);
    let summary = &trip.summary;
    figures_agree(summary, &trip.operations);
    for end in [End::Paid, End::Cancelled, End::Left, End::Refused] {
        assert!(summary.ended(end) > 0, "{end:?}: {summary:#?}");
    }
    assert_eq!(summary.ended(End::Failed), 0, "{summary:#?}");
    assert!(summary.steps.values().all(|one| one.failures == 0));
    assert!(summary.steps[&Step::Buy].response_us.p50 > 0);
    assert!(summary.whole_us.p50 > 0 && summary.whole_us.p50 <= summary.whole_us.max);
    let books = shop.books.lock().unwrap();
    let asked: Vec<(&str, &str)> = books
        .buys
        .iter()
        .map(|buy| {
            (
                buy["request_id"].as_str().unwrap(),
                buy["user"].as_str().unwrap(),
            )
        })
        .collect();
    for buy in of_kind(&trip.operations, OperationKind::Buy) {
        assert!(is_journey(buy.key) && (100..104).contains(&buy.user));
        let (id, user) = (request_id(plan.seed, buy.key), user_id(buy.user));
        assert!(asked.contains(&(id.as_str(), user.as_str())), "{buy:?}");
        assert_eq!(buy.intended_ns, buy.sent_ns);
        assert!(buy.sent_ns <= buy.completed_ns);
    }
    let keys: HashSet<&str> = asked.iter().map(|(id, _)| *id).collect();
    assert_eq!(keys.len(), asked.len(), "every journey is a purchase");
    let users: HashSet<&str> = asked.iter().map(|(_, user)| *user).collect();
    assert_eq!(users.len(), 4);
    let paid = books.settled.iter().filter(|one| one.starts_with("pay"));
    assert_eq!(
        paid.count() as u64,
        summary.steps[&Step::Pay].requests,
        "{summary:#?}"
    );
}

#[test]
fn steps_of_one_journey_come_in_their_order() {
    let shop = Shop::open(20, "created");
    let trip = travel(&plan(1_200), shop.address);
    let mut of_key: HashMap<u64, Vec<OperationKind>> = HashMap::new();
    for one in &trip.operations {
        of_key.entry(one.key).or_default().push(one.kind);
    }
    use OperationKind::{Buy, Cancel, Pay, Status};
    let allowed: [&[OperationKind]; 4] = [
        &[Buy],
        &[Buy, Status, Status],
        &[Buy, Status, Status, Pay],
        &[Buy, Status, Status, Cancel],
    ];
    let whole = of_key
        .values()
        .filter(|one| allowed.contains(&one.as_slice()));
    let whole = whole.count() as u64;
    let cut_short = trip.summary.ended(End::CutShort);
    assert!(
        whole + cut_short >= of_key.len() as u64,
        "{of_key:?} {:#?}",
        trip.summary
    );
}

#[test]
fn a_challenge_is_asked_for_and_shown() {
    let shop = Shop::open(1_000, "created");
    let mut plan = plan(1_000);
    plan.target.requests.challenge = Some(request("GET", "/challenge", ""));
    plan.target.challenge_field = Some("token".into());
    plan.target.requests.buy.body =
        r#"{"sku":"{sku}","user":"{user}","request_id":"{request_id}","challenge":"{challenge}"}"#
            .into();
    let trip = travel(&plan, shop.address);
    figures_agree(&trip.summary, &trip.operations);
    assert!(trip.summary.ended(End::Paid) > 0, "{:#?}", trip.summary);
    assert!(trip.summary.steps[&Step::Challenge].requests >= trip.summary.buys);
    let books = shop.books.lock().unwrap();
    assert!(
        books
            .buys
            .iter()
            .all(|buy| buy["challenge"].as_str().unwrap().starts_with('t'))
    );
}

#[test]
fn orders_that_are_never_decided_or_given_up_end_a_journey() {
    for (decides, end) in [("rejected", End::Refused), ("queued", End::NeverFinal)] {
        let shop = Shop::open(1_000, decides);
        let trip = travel(&plan(1_000), shop.address);
        figures_agree(&trip.summary, &trip.operations);
        assert!(
            trip.summary.ended(end) > 0,
            "{decides}: {:#?}",
            trip.summary
        );
        assert_eq!(trip.summary.ended(End::Paid), 0);
        assert!(!trip.summary.steps.contains_key(&Step::Pay));
    }
}

#[test]
fn lost_answers_are_unknown_for_the_same_reasons_as_those_of_the_load() {
    let half = b"HTTP/1.1 202 A\r\nContent-Length: 50\r\n\r\n{".to_vec();
    let cases = [
        ("reset", Act::Reset),
        ("closed", Act::WriteAndClose(Vec::new())),
        ("half_answer", Act::WriteAndClose(half)),
        (
            "bad_answer",
            Act::Write(b"SSH-2.0-OpenSSH\r\n\r\n".to_vec()),
        ),
        ("timeout", Act::Stall),
        ("unmapped_answer", Act::Write(answer(202 + 1, "{}"))),
    ];
    for (reason, act) in cases {
        let script = Script::run(move |_| act.clone());
        let mut plan = plan(1_000);
        plan.load.timeout_ms = 150;
        let trip = travel(&plan, script.address);
        figures_agree(&trip.summary, &trip.operations);
        assert!(!trip.operations.is_empty(), "{reason}");
        // A reset that overtakes the client's own bytes reads as a close.
        let close = if reason == "reset" { "closed" } else { reason };
        let all = trip.operations.len();
        let expected = |one: &&Operation| {
            [reason, close].contains(&trip.reasons[usize::from(one.reason)].as_str())
        };
        let matching = trip.operations.iter().filter(expected).count();
        assert_eq!(matching, all, "{reason}: {:#?}", trip.operations);
        assert!(trip.with_reason(reason) > 0, "{reason}");
        assert!(
            trip.operations
                .iter()
                .all(|one| one.outcome == Outcome::Unknown)
        );
        assert!(trip.summary.ended(End::Failed) > 0, "{reason}");
        let buys = trip.summary.steps[&Step::Buy];
        assert_eq!(buys.failures, buys.requests, "{reason}");
    }
}

#[test]
fn nobody_listening_is_a_reset() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    let trip = travel(&plan(1_000), address);
    assert!(!trip.operations.is_empty());
    assert_eq!(trip.with_reason("reset"), trip.operations.len());
}

/// Neither a long load nor a server that never answers keeps anybody after Ctrl-C.
#[test]
fn ctrl_c_ends_the_journeys() {
    let stalled = Script::run(|_| Act::Stall);
    let shop = Shop::open(1_000_000, "created");
    for address in [stalled.address, shop.address] {
        let mut plan = plan(120_000);
        plan.load.timeout_ms = 60_000;
        let began = Instant::now();
        let trip = try_travel(&plan, address, Some(Duration::from_millis(1_500))).unwrap();
        assert!(began.elapsed() < Duration::from_secs(30), "{began:?}");
        assert!(trip.summary.started > 0);
        assert_eq!(trip.summary.error, None);
        assert_eq!(trip.summary.unended(), 0);
        assert_eq!(
            trip.summary.buys,
            of_kind(&trip.operations, OperationKind::Buy).len() as u64
        );
    }
}

#[test]
fn buyers_come_one_after_the_other_and_not_before_their_time() {
    let shop = Shop::open(1_000, "created");
    let mut plan = plan(1_500);
    let journeys = plan.journeys.as_mut().unwrap();
    journeys.starts_at_ms = 200;
    journeys.hatch_per_s = 10.0;
    let trip = travel(&plan, shop.address);
    let mut first: HashMap<u64, u64> = HashMap::new();
    for one in &trip.operations {
        let at = first.entry(one.user).or_insert(one.sent_ns);
        *at = one.sent_ns.min(*at);
    }
    for buyer in 0..4 {
        let due_ns = (200 + buyer * 100) * 1_000_000;
        let came_ns = first[&(100 + buyer)];
        assert!(came_ns >= due_ns, "buyer {buyer} came at {came_ns} ns");
    }
}

#[test]
fn what_cannot_be_sent_is_said_before_anybody_comes() {
    let here = "127.0.0.1:9".parse().unwrap();
    let mut unknown = plan(100);
    unknown.target.requests.pay.path = "/{order}".into();
    let mut early = plan(100);
    early.target.requests.buy.path = "/{order_id}".into();
    let mut method = plan(100);
    method.target.requests.cancel.method = "BREW".into();
    for (plan, expected) in [
        (&unknown, "target.requests.pay: `{order}` is not known here"),
        (
            &early,
            "target.requests.buy: `{order_id}` is not known here",
        ),
        (&method, "target.requests.cancel: BREW is no method"),
    ] {
        let error = try_travel(plan, here, None).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}
