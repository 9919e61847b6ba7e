//! A connection from a fuzzer's bytes.

use std::sync::Arc;

use flashdrill::proxy::cut::{Action, Cut, Cuts, Cutter, Protocol, Rewrites, Then};
use flashdrill::proxy::toxic::Stream;

/// Splits `input` into chunks, each with a byte before it for its side and length, and lets them pass. The first
/// byte says whether the connection is fresh, and whether there are cuts, which may act or never do; and whether
/// an address is rewritten, to another of its length.
pub fn run(protocol: Protocol, input: &[u8]) {
    let Some((kind, mut rest)) = input.split_first() else {
        return;
    };
    let may_rewrite = kind & 8 != 0;
    let rewrites = if may_rewrite {
        Rewrites::of("a:1", "b:2")
    } else {
        Rewrites::default()
    };
    let cuts = Arc::new(Cuts::rewriting(rewrites));
    cuts.set_protocol(Some(protocol));
    let may_act = kind & 4 != 0;
    if kind & 2 != 0 {
        add_cuts(&cuts, protocol, if may_act { 1 } else { u64::MAX });
    }
    let mut cutter = Cutter::of(&cuts, kind & 1 == 0);
    let (mut sent, mut passed) = ([vec![], vec![]], [vec![], vec![]]);
    while let Some((head, tail)) = rest.split_first() {
        let (chunk, tail) = tail.split_at(usize::from(head >> 1).min(tail.len()));
        rest = tail;
        let side = usize::from(head & 1);
        let part = cutter.pass([Stream::Upstream, Stream::Downstream][side], chunk);
        sent[side].extend_from_slice(chunk);
        passed[side].extend_from_slice(&part.bytes);
    }
    passed[0].extend(cutter.end(Stream::Upstream));
    passed[1].extend(cutter.end(Stream::Downstream));
    if may_act {
        return;
    }
    if may_rewrite {
        let lengths = |streams: &[Vec<u8>; 2]| streams.each_ref().map(Vec::len);
        assert!(lengths(&passed) == lengths(&sent), "bytes came or went");
    } else {
        assert!(passed == sent, "bytes were changed");
    }
}

fn add_cuts(cuts: &Cuts, protocol: Protocol, nth: u64) {
    let (at, actions) = match protocol {
        Protocol::Resp => (
            "GET",
            [Action::Close, Action::LoseReply { then: Then::Reset }],
        ),
        Protocol::Mysql => (
            "COMMIT",
            [Action::Close, Action::LoseReply { then: Then::Hang }],
        ),
        Protocol::Remoting => ("PULL_MESSAGE", [Action::Drop, Action::Twice]),
    };
    for action in actions {
        let cut = Cut {
            nth,
            ..Cut::next(protocol, at, action)
        };
        cuts.add(&cut, None);
    }
}
