//! A shop that behaves: what it was asked, what it said, and what the history holds are the same.

use std::collections::{HashMap, HashSet};

use flashdrill::history::operation::{Operation, OperationKind, Outcome};
use flashdrill::load::population::{Retries, request_id, user_id};
use flashdrill::load::spec::LoadSpec;

use base64::Engine as _;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

use crate::run::{Ran, ran, spec};
use crate::script::{Act, Script, answer};
use crate::shop::Shop;

fn buys(ran: &Ran) -> impl Iterator<Item = &Operation> + Clone {
    ran.operations
        .iter()
        .filter(|operation| operation.kind == OperationKind::Buy)
}

fn busy_plan() -> LoadSpec {
    let mut spec = spec(2_000.0, 500);
    spec.load.depth = 4;
    spec.population.duplicate_share = 0.3;
    spec
}

#[test]
fn the_history_holds_what_the_shop_was_asked() {
    let shop = Shop::open(100);
    let spec = busy_plan();
    let ran = ran(&spec, shop.address);
    let books = shop.books.lock().unwrap();
    assert_eq!(ran.summary.offered, 1_000);
    assert_eq!(ran.summary.sent, 1_000);
    assert_eq!(books.buys.len(), 1_000);

    let mut asked: HashMap<(String, String, String), u64> = HashMap::new();
    for buy in &books.buys {
        assert_eq!(buy["sale"], "sale");
        assert_eq!(buy["quantity"], 1);
        let text = |field: &str| buy[field].as_str().unwrap().to_owned();
        let ask = (text("request_id"), text("user"), text("sku"));
        *asked.entry(ask).or_default() += 1;
    }
    for operation in buys(&ran) {
        let sku = spec.skus[operation.sku as usize].clone();
        let ask = (
            request_id(spec.seed, operation.key),
            user_id(operation.user),
            sku,
        );
        *asked.get_mut(&ask).unwrap() -= 1;
    }
    assert!(asked.values().all(|left| *left == 0));
    let indexes: HashSet<u64> = buys(&ran).map(|operation| operation.index).collect();
    assert_eq!(indexes, (0..1_000).collect());
}

#[test]
fn answers_become_outcomes_with_reasons_and_order_ids() {
    let shop = Shop::open(100);
    let spec = busy_plan();
    let ran = ran(&spec, shop.address);
    let books = shop.books.lock().unwrap();
    assert_eq!(books.orders.len(), 300, "the shop sold out");
    for operation in buys(&ran) {
        let order = books.orders.get(&request_id(spec.seed, operation.key));
        match operation.outcome {
            Outcome::Accepted => assert_eq!(operation.order_id.as_deref(), order.map(|o| &**o)),
            Outcome::Refused => {
                assert_eq!((operation.status, ran.reason(operation)), (409, "sold_out"));
                assert_eq!((operation.order_id.as_deref(), order), (None, None));
            }
            Outcome::Unknown => panic!("{operation:?}"),
        }
    }
    let accepted = buys(&ran).filter(|o| o.outcome == Outcome::Accepted);
    let repeats = accepted.clone().filter(|o| o.key != o.index).count() as u64;
    assert!(repeats > 0, "no second click was answered with its order");
    assert_eq!(accepted.count() as u64, ran.count("accepted"));
    assert_eq!(ran.count("accepted"), 300 + repeats);
    assert_eq!(ran.count("accepted") + ran.count("refused:sold_out"), 1_000);
}

#[test]
fn duplicates_carry_the_request_id_of_their_first_click() {
    let shop = Shop::open(1_000);
    let spec = busy_plan();
    let ran = ran(&spec, shop.address);
    let repeats = buys(&ran).filter(|o| o.key != o.index).count();
    assert!((200..400).contains(&repeats), "{repeats}");
    let books = shop.books.lock().unwrap();
    let distinct: HashSet<&str> = books
        .buys
        .iter()
        .map(|buy| buy["request_id"].as_str().unwrap())
        .collect();
    assert_eq!(distinct.len(), 1_000 - repeats);
}

#[test]
fn accepted_orders_are_followed_up_once() {
    let shop = Shop::open(100);
    let mut spec = busy_plan();
    spec.population.pay_share = 0.5;
    spec.population.cancel_share = 0.2;
    spec.population.status_share = 0.3;
    let ran = ran(&spec, shop.address);
    let books = shop.books.lock().unwrap();
    let followed: HashSet<&str> = books
        .follow_ups
        .iter()
        .map(|line| line.split_once(' ').unwrap().1)
        .collect();
    assert_eq!(books.follow_ups.len(), followed.len());
    assert!(followed.len() > 250, "{}", followed.len());
    assert!(books.orders.values().all(|o| followed.contains(&**o)));
    let count = |action: &str| {
        let lines = books.follow_ups.iter();
        lines.filter(|line| line.starts_with(action)).count() as u64
    };
    let follow_ups = &ran.summary.follow_ups;
    assert_eq!(follow_ups.get("pay:accepted"), Some(&count("pay")));
    assert_eq!(follow_ups.get("cancel:refused"), Some(&count("cancel")));
    assert_eq!(follow_ups.get("status:accepted"), Some(&count("status")));
    assert_eq!(ran.operations.len(), 1_000 + followed.len());
    for operation in &ran.operations {
        if operation.kind != OperationKind::Buy {
            let buy = buys(&ran).find(|buy| buy.index == operation.index).unwrap();
            assert!(operation.sent_ns >= buy.completed_ns + 50_000_000);
            assert_eq!(operation.key, buy.key);
        }
    }
}

#[test]
fn the_history_is_in_the_order_of_completion_and_time_runs_forward() {
    let shop = Shop::open(100);
    let ran = ran(&busy_plan(), shop.address);
    let mut last = 0;
    for operation in &ran.operations {
        assert!(operation.completed_ns >= last);
        assert!(operation.intended_ns <= operation.sent_ns);
        assert!(operation.sent_ns <= operation.completed_ns);
        last = operation.completed_ns;
    }
}

#[test]
fn the_figures_agree_with_the_history() {
    let shop = Shop::open(100);
    let ran = ran(&busy_plan(), shop.address);
    let summary = &ran.summary;
    let sum = |field: fn(&flashdrill::load::summary::Interval) -> u64| {
        summary.timeline.iter().map(field).sum::<u64>()
    };
    assert_eq!(sum(|i| i.offered), 1_000);
    assert_eq!(sum(|i| i.sent), 1_000);
    assert_eq!(sum(|i| i.accepted), ran.count("accepted"));
    assert_eq!(sum(|i| i.refused), ran.count("refused:sold_out"));
    assert_eq!(summary.phases.len(), 1);
    assert_eq!(
        (summary.phases[0].offered, summary.phases[0].sent),
        (1_000, 1_000)
    );
    let counts = ran.progress.counts();
    assert_eq!((counts.offered, counts.sent), (1_000, 1_000));
    assert_eq!(counts.accepted, ran.count("accepted"));
    assert_eq!(counts.refused, ran.count("refused:sold_out"));
    assert!(summary.response_us.p50 >= summary.service_us.p50);
    assert_eq!(logged(&ran.response_log), 1_000);
    assert_eq!(
        (summary.first_outage_ms, summary.aborted.as_ref()),
        (None, None)
    );
}

/// Response times in a saved HdrHistogram log.
fn logged(log: &str) -> u64 {
    let mut count = 0;
    for entry in IntervalLogIterator::new(log.as_bytes()) {
        if let LogEntry::Interval(interval) = entry.unwrap() {
            let text = interval.encoded_histogram();
            let bytes = base64::engine::general_purpose::STANDARD
                .decode(text)
                .unwrap();
            let histogram: Histogram<u32> =
                Deserializer::new().deserialize(&mut &bytes[..]).unwrap();
            count += histogram.len();
        }
    }
    count
}

#[test]
fn each_rule_of_the_target_is_applied() {
    let script = Script::run(|number| {
        Act::Write(match number % 6 {
            0 => answer(202, r#"{"order_id":"o"}"#),
            1 => answer(409, r#"{"reason":"sold_out"}"#),
            2 => answer(409, r#"{"reason":"other"}"#),
            3 => answer(503, r#"{"reason":"paused"}"#),
            4 => answer(500, ""),
            _ => answer(418, "teapot"),
        })
    });
    let ran = ran(&spec(600.0, 500), script.address);
    let expected = [
        "accepted",
        "refused:sold_out",
        "refused:conflict",
        "refused:paused",
        "unknown:broken",
        "unknown:unmapped_answer",
    ];
    for outcome in expected {
        assert_eq!(ran.count(outcome), 50, "{outcome}");
    }
    let outages: u64 = ran.summary.timeline.iter().map(|i| i.outage).sum();
    assert_eq!(outages, 50);
    assert!(ran.summary.first_outage_ms < ran.summary.last_outage_ms);
}

/// Every buyer clicks up to twice more, 20 ms later.
fn stubborn(rate_per_s: f64) -> LoadSpec {
    let mut spec = spec(rate_per_s, 500);
    spec.population.retries = Retries {
        share: 1.0,
        max: 2,
        after_ms: 20,
        backoff: 1.0,
    };
    spec
}

#[test]
fn buyers_refused_for_the_moment_or_left_in_doubt_click_again_outside_the_schedule() {
    for (status, outcome) in [(503, "refused:paused"), (500, "unknown:broken")] {
        let script = Script::run(move |_| Act::Write(answer(status, r#"{"reason":"paused"}"#)));
        let ran = ran(&stubborn(200.0), script.address);
        let summary = &ran.summary;
        assert_eq!((summary.offered, summary.sent), (100, 100), "{outcome}");
        assert_eq!((summary.retries.sent, summary.retries.dropped), (200, 0));
        assert_eq!(ran.count(outcome), 300, "{:?}", summary.outcomes);
        assert_eq!(summary.phases[0].sent, 100);
        assert_eq!(logged(&ran.response_log), 100, "times are the schedule's");
        let clicks = clicks(&ran);
        assert_eq!(clicks.len(), 100);
        for click in clicks.values() {
            assert_eq!(click.len(), 3);
            let attempts: Vec<_> = click.iter().map(|one| one.attempt).collect();
            assert_eq!(attempts, [0, 1, 2]);
            for pair in click.windows(2) {
                assert_eq!(pair[0].user, pair[1].user);
                assert!(pair[1].intended_ns >= pair[0].completed_ns + 10_000_000);
            }
        }
    }
}

/// Buys by index and key, each in the order of completion.
fn clicks(ran: &Ran) -> HashMap<(u64, u64), Vec<&Operation>> {
    let mut clicks: HashMap<_, Vec<&Operation>> = HashMap::new();
    for buy in buys(ran) {
        clicks.entry((buy.index, buy.key)).or_default().push(buy);
    }
    clicks
}

#[test]
fn buyers_whose_connection_was_closed_click_again_until_they_are_served() {
    let script = Script::run(|number| match number % 4 {
        0 => Act::WriteAndClose(Vec::new()),
        _ => Act::Write(answer(202, r#"{"order_id":"o"}"#)),
    });
    let ran = ran(&stubborn(200.0), script.address);
    assert!(ran.summary.retries.sent > 10, "{:?}", ran.summary.retries);
    for click in clicks(&ran).values() {
        let (last, before) = click.split_last().unwrap();
        assert!(before.iter().all(|one| one.outcome == Outcome::Unknown));
        assert!(last.outcome == Outcome::Accepted || click.len() == 3);
    }
}

#[test]
fn an_answer_that_is_final_is_not_asked_for_again() {
    for (status, body) in [
        (202, r#"{"order_id":"o"}"#),
        (409, r#"{"reason":"sold_out"}"#),
    ] {
        let script = Script::run(move |_| Act::Write(answer(status, body)));
        let ran = ran(&stubborn(200.0), script.address);
        assert_eq!((ran.summary.sent, ran.summary.retries.sent), (100, 0));
    }
}

#[test]
fn a_retry_that_succeeds_is_followed_up_as_a_first_click_would() {
    // The first answer to a request id is a refusal, the second its order.
    let script = Script::run(|number| {
        Act::Write(match number % 2 {
            0 => answer(503, r#"{"reason":"paused"}"#),
            _ => answer(202, r#"{"order_id":"o"}"#),
        })
    });
    // Slow enough that each buyer is done before the next comes.
    let mut spec = stubborn(10.0);
    spec.population.status_share = 1.0;
    spec.population.follow_up_after_ms = 1;
    let ran = ran(&spec, script.address);
    let follow_ups: u64 = ran.summary.follow_ups.values().sum();
    assert!(ran.summary.retries.sent > 0);
    assert_eq!(follow_ups, ran.count("accepted"));
}

#[test]
fn buyers_who_poll_ask_as_often_and_as_far_apart_as_planned() {
    let shop = Shop::open(20);
    let mut spec = spec(500.0, 500);
    spec.population.status_share = 1.0;
    spec.population.poll_max = 3;
    spec.population.poll_every_ms = 40;
    let ran = ran(&spec, shop.address);
    assert_eq!(ran.count("accepted"), 60);
    let mut polls: HashMap<u64, Vec<u64>> = HashMap::new();
    let asked = ran.operations.iter();
    for poll in asked.filter(|one| one.kind == OperationKind::Status) {
        polls.entry(poll.key).or_default().push(poll.intended_ns);
    }
    assert_eq!(polls.len(), 60);
    for times in polls.values_mut() {
        times.sort_unstable();
        let apart: Vec<u64> = times.windows(2).map(|two| two[1] - two[0]).collect();
        assert_eq!(apart, [40_000_000, 40_000_000]);
    }
}
