use proptest::collection::vec;
use proptest::prelude::*;

use super::super::point::{Action, Cut};
use super::super::remoting::testing::frame;
use super::super::remoting::{Rewrites, Serialization};
use super::*;

use Stream::{Downstream, Upstream};

const BOTH_SERIALIZATIONS: [Serialization; 2] = [Serialization::Json, Serialization::Binary];

fn link(protocol: Protocol, cuts: &[Cut]) -> Arc<Cuts> {
    let all = Arc::new(Cuts::default());
    all.set_protocol(Some(protocol));
    for cut in cuts {
        cut.check().unwrap();
        all.add(cut, None).unwrap();
    }
    all
}

fn lose_reply(protocol: Protocol, at: &str, then: Then) -> Cut {
    Cut::next(protocol, at, Action::LoseReply { then })
}

/// (seen, fired) of each cut.
fn counts(cuts: &Cuts) -> Vec<(u64, u64)> {
    let views = cuts.list();
    views.iter().map(|cut| (cut.seen, cut.fired)).collect()
}

/// What passes of `bytes` in chunks, and what happened at last.
fn pass(
    cutter: &mut Cutter,
    stream: Stream,
    bytes: &[u8],
    chunk: usize,
) -> (Vec<u8>, Option<Then>) {
    let mut passed = Vec::new();
    let mut then = None;
    for chunk in bytes.chunks(chunk) {
        let part = cutter.pass(stream, chunk);
        passed.extend_from_slice(&part.bytes);
        then = then.or(part.then);
    }
    (passed, then)
}

const ASKED: &[u8] = b"*2\r\n$3\r\nGET\r\n$1\r\na\r\n\
    *4\r\n$7\r\nEVALSHA\r\n$1\r\ns\r\n$1\r\n1\r\n$1\r\nk\r\n\
    *4\r\n$7\r\nevalsha\r\n$1\r\ns\r\n$1\r\n1\r\n$1\r\nk\r\n\
    *1\r\n$4\r\nPING\r\n";

#[test]
fn the_reply_to_the_nth_evalsha_is_lost_among_pipelined_ones() {
    for chunk in 1..200 {
        let cut = Cut {
            nth: 2,
            ..lose_reply(Protocol::Resp, "EVALSHA", Then::Reset)
        };
        let cuts = link(Protocol::Resp, &[cut]);
        let mut cutter = Cutter::of(&cuts, true);
        assert_eq!(
            pass(&mut cutter, Upstream, ASKED, chunk),
            (ASKED.to_vec(), None)
        );
        let before = b"$1\r\nx\r\n*2\r\n:1\r\n*1\r\n+a\r\n";
        let replies = [&before[..], b"*1\r\n+lost\r\n", b"+PONG\r\n"].concat();
        let (passed, then) = pass(&mut cutter, Downstream, &replies, chunk);
        assert_eq!(
            (&passed[..], then),
            (&before[..], Some(Then::Reset)),
            "{chunk}"
        );
        assert_eq!(counts(&cuts), [(2, 1)]);
        assert!(cutter.pass(Upstream, b"more").bytes.is_empty());
    }
}

#[test]
fn an_evalsha_that_was_refused_does_not_count() {
    let cuts = link(
        Protocol::Resp,
        &[lose_reply(Protocol::Resp, "EVALSHA", Then::Hang)],
    );
    let mut cutter = Cutter::of(&cuts, true);
    cutter.pass(Upstream, ASKED);
    let replies = b"$1\r\nx\r\n-NOSCRIPT no\r\n+lost\r\n+PONG\r\n";
    let (passed, then) = pass(&mut cutter, Downstream, replies, 64);
    assert_eq!(
        (&passed[..], then),
        (&b"$1\r\nx\r\n-NOSCRIPT no\r\n"[..], Some(Then::Hang))
    );
    assert_eq!(counts(&cuts), [(1, 1)]);
}

#[test]
fn a_close_lets_the_request_through_and_nothing_behind_it() {
    let cuts = link(
        Protocol::Resp,
        &[Cut::next(Protocol::Resp, "GET", Action::Close)],
    );
    let mut cutter = Cutter::of(&cuts, true);
    let passed = cutter.pass(Upstream, ASKED);
    assert_eq!(&passed.bytes[..], b"*2\r\n$3\r\nGET\r\n$1\r\na\r\n");
    assert_eq!(passed.then, Some(Then::Reset));
    assert_eq!(counts(&cuts), [(1, 1)]);
}

#[test]
fn counts_go_over_all_connections_of_the_link() {
    let cut = Cut {
        nth: 2,
        ..Cut::next(Protocol::Resp, "PING", Action::Close)
    };
    let cuts = link(Protocol::Resp, &[cut]);
    let mut cutters = [(); 3].map(|()| Cutter::of(&cuts, true));
    assert_eq!(cuts.list()[0].connections_followed, 3);
    let closed = cutters
        .each_mut()
        .map(|cutter| cutter.pass(Upstream, b"PING\r\n").then.is_some());
    assert_eq!(closed, [false, true, false]);
    drop(cutters);
    assert_eq!(cuts.list()[0].connections_followed, 0);
}

#[test]
fn a_connection_that_was_open_before_is_not_guessed_at() {
    let cuts = link(
        Protocol::Resp,
        &[Cut::next(Protocol::Resp, "PING", Action::Close)],
    );
    let mut cutter = Cutter::of(&cuts, false);
    assert_eq!(cutter.pass(Upstream, b"PING\r\n").then, None);
    assert_eq!(
        (counts(&cuts), cuts.list()[0].connections_followed),
        (vec![(0, 0)], 0)
    );
}

/// A half message, its answer, and the transaction's end.
fn transaction(serialization: Serialization) -> [Vec<u8>; 3] {
    let topic = [("topic", "orders")];
    [
        frame(serialization, [310, 5, 0], &topic, b"message"),
        frame(serialization, [0, 5, 1], &[("msgId", "m")], b""),
        frame(serialization, [37, 6, 2], &[("commitOrRollback", "8")], b""),
    ]
}

#[test]
fn a_commit_notice_is_dropped_or_late_and_others_pass() {
    for serialization in BOTH_SERIALIZATIONS {
        let [half, answer, end] = transaction(serialization);
        for action in [Action::Drop, Action::Delay { delay_ms: 70 }] {
            let cut = Cut::next(Protocol::Remoting, "END_TRANSACTION", action);
            let cuts = link(Protocol::Remoting, &[cut]);
            let mut cutter = Cutter::of(&cuts, true);
            let sent = [&half[..], &end, &half].concat();
            let passed = cutter.pass(Upstream, &sent);
            assert!(*passed.bytes == [&half[..], &half].concat(), "{action:?}");
            let late = match action {
                Action::Drop => vec![],
                _ => vec![(70, end.clone())],
            };
            assert_eq!((passed.late, passed.then), (late, None));
            assert!(*cutter.pass(Downstream, &answer).bytes == answer);
            assert!(*cutter.pass(Upstream, &end).bytes == end, "only one");
            assert_eq!(counts(&cuts), [(2, 1)]);
        }
    }
}

#[test]
fn a_message_is_sent_twice_and_its_second_answer_swallowed() {
    for serialization in BOTH_SERIALIZATIONS {
        let [half, answer, _] = transaction(serialization);
        let cut = Cut::next(Protocol::Remoting, "SEND_MESSAGE", Action::Twice);
        let cuts = link(Protocol::Remoting, &[cut]);
        let mut cutter = Cutter::of(&cuts, true);
        let passed = cutter.pass(Upstream, &half).bytes.into_owned();
        let again = passed.strip_prefix(&half[..]).unwrap();
        assert!(again.ends_with(b"message"));
        let opaque = super::super::remoting::Header::read(again).unwrap().opaque;
        assert_ne!(opaque, 5);
        let second = frame(serialization, [0, opaque, 1], &[], b"");
        assert_eq!(counts(&cuts), [(1, 0)], "not until the broker has it");
        assert!(cutter.pass(Downstream, &second).bytes.is_empty());
        assert!(*cutter.pass(Downstream, &answer).bytes == answer);
        assert_eq!(counts(&cuts), [(1, 1)]);
    }
}

#[test]
fn the_same_messages_are_pulled_twice() {
    for serialization in BOTH_SERIALIZATIONS {
        let pull = |opaque, offset| {
            let fields = [
                ("consumerGroup", "g"),
                ("topic", "t"),
                ("queueId", "0"),
                ("queueOffset", offset),
            ];
            frame(serialization, [11, opaque, 0], &fields, b"")
        };
        let cut = Cut::next(Protocol::Remoting, "PULL_MESSAGE", Action::Twice);
        let cuts = link(Protocol::Remoting, &[cut]);
        let mut cutter = Cutter::of(&cuts, true);
        // Nothing new (19), then messages (0).
        for (opaque, code, offset, expected) in [
            (1, 19, "7", "7"),
            (2, 0, "7", "7"),
            (3, 0, "9", "7"),
            (4, 0, "9", "9"),
        ] {
            let sent = pull(opaque, offset);
            let passed = cutter.pass(Upstream, &sent);
            assert!(*passed.bytes == pull(opaque, expected), "{opaque}");
            let answer = frame(serialization, [code, opaque, 1], &[], b"messages");
            assert!(*cutter.pass(Downstream, &answer).bytes == answer);
        }
        assert_eq!(counts(&cuts), [(3, 1)]);
    }
}

#[test]
fn an_answer_of_the_broker_is_lost() {
    let [half, answer, _] = transaction(Serialization::Json);
    let cuts = link(
        Protocol::Remoting,
        &[lose_reply(Protocol::Remoting, "SEND_MESSAGE", Then::Reset)],
    );
    let mut cutter = Cutter::of(&cuts, true);
    assert!(*cutter.pass(Upstream, &half).bytes == half);
    let other = frame(Serialization::Json, [0, 99, 1], &[], b"");
    let (passed, then) = pass(
        &mut cutter,
        Downstream,
        &[&other[..], &answer, &other].concat(),
        7,
    );
    assert_eq!((passed == other, then), (true, Some(Then::Reset)));
    assert_eq!(counts(&cuts), [(1, 1)]);
}

#[test]
fn a_name_servers_answers_name_other_addresses_in_chunks_of_any_size() {
    let told = |address: &str| {
        format!(r#"{{"brokerDatas":[{{"brokerAddrs":{{0:"{address}",1:"{address}"}}}}]}}"#)
    };
    let (before, after) = (told("127.0.0.1:9"), told("127.0.0.1:40000"));
    for serialization in BOTH_SERIALIZATIONS {
        let stream = |flag, codes: [i32; 3], bodies: [&str; 3]| {
            let frames = [0, 1, 2].map(|at| {
                let ids = [codes[at], at as i32, flag];
                frame(serialization, ids, &[], bodies[at].as_bytes())
            });
            frames.concat()
        };
        // Route, a heartbeat, and the cluster; what a client says of addresses is its own affair.
        let asked = stream(0, [105, 34, 106], [&before; 3]);
        let answered = stream(1, [0; 3], [&before; 3]);
        let expected = stream(1, [0; 3], [&after, &before, &after]);
        for chunk in 1..=answered.len() {
            let cuts = Arc::new(Cuts::rewriting(Rewrites::of(
                "127.0.0.1:9",
                "127.0.0.1:40000",
            )));
            let mut cutter = Cutter::of(&cuts, true);
            let (passed, _) = pass(&mut cutter, Upstream, &asked, chunk);
            assert!(passed == asked, "{chunk}");
            let (passed, then) = pass(&mut cutter, Downstream, &answered, chunk);
            assert!(passed == expected && then.is_none(), "{chunk}");
        }
    }
}

/// Cuts that could change something, but whose turn never comes.
fn never(protocol: Protocol) -> Vec<Cut> {
    let (at, actions) = match protocol {
        Protocol::Resp => (
            "PING",
            vec![Action::Close, Action::LoseReply { then: Then::Reset }],
        ),
        Protocol::Mysql => (
            "COMMIT",
            vec![Action::Close, Action::LoseReply { then: Then::Hang }],
        ),
        Protocol::Remoting => ("SEND_MESSAGE", vec![Action::Drop, Action::Twice]),
    };
    let cut = |action| Cut {
        nth: u64::MAX,
        ..Cut::next(protocol, at, action)
    };
    actions.into_iter().map(cut).collect()
}

/// Bytes that look like something now and then.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let pieces = prop_oneof![
        vec(any::<u8>(), 0..40),
        Just(ASKED.to_vec()),
        Just(b"*2\r\n$3\r\nGET\r\n".to_vec()),
        Just(b"+OK\r\n-ERR\r\n%1\r\n".to_vec()),
        Just(b"\x07\0\0\0\x03COMMIT".to_vec()),
        Just(b"\x05\0\0\x01\0\0\0\x02\0".to_vec()),
        Just(b"\x04\0\0\0\x0a8.0".to_vec()),
        Just(transaction(Serialization::Json).concat()),
        Just(transaction(Serialization::Binary).concat()),
    ];
    vec(pieces, 0..8).prop_map(|pieces| pieces.concat())
}

fn protocol() -> impl Strategy<Value = Protocol> {
    prop_oneof![
        Just(Protocol::Resp),
        Just(Protocol::Mysql),
        Just(Protocol::Remoting)
    ]
}

proptest! {
    #[test]
    fn every_byte_passes_untouched_in_chunks_of_any_size(
        protocol in protocol(),
        is_fresh: bool,
        sent in [bytes(), bytes()],
        chunks in vec((any::<bool>(), 1_usize..90, 0_u8..8), 1..60),
    ) {
        let cuts = link(protocol, &[]);
        let mut cutter = Cutter::of(&cuts, is_fresh);
        let (mut rest, mut passed) = (sent.clone(), [vec![], vec![]]);
        for (is_client, length, change) in chunks.iter().cycle().take(400) {
            match change {
                0 => drop(cuts.remove(|_| true)),
                1 => for cut in never(protocol) { cuts.add(&cut, None); },
                _ => {}
            }
            let (side, stream) = if *is_client { (0, Upstream) } else { (1, Downstream) };
            let tail = rest[side].split_off((*length).min(rest[side].len()));
            let chunk = std::mem::replace(&mut rest[side], tail);
            let part = cutter.pass(stream, &chunk);
            prop_assert_eq!(part.then, None);
            passed[side].extend_from_slice(&part.bytes);
        }
        for (side, stream) in [(0, Upstream), (1, Downstream)] {
            let part = cutter.pass(stream, &rest[side]);
            passed[side].extend_from_slice(&part.bytes);
            passed[side].extend(cutter.end(stream));
        }
        prop_assert!(passed == sent);
    }
}
