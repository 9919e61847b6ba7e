//! `GET /metrics`: the counters in Prometheus' text format, under Toxiproxy's names.
//!
//! Toxiproxy adds a connection's bytes when it ends; these are live.

use std::fmt::Write;

use super::link::Link;
use super::toxic::Stream;
use super::traffic::DirectionTraffic;

pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

pub fn text<'a>(links: impl Iterator<Item = &'a Link> + Clone) -> String {
    let mut text = String::new();
    family(&mut text, "received", links.clone(), |d| d.received_bytes);
    family(&mut text, "sent", links, |d| d.forwarded_bytes);
    let tasks = tokio::runtime::Handle::current()
        .metrics()
        .num_alive_tasks();
    // Writing to a string does not fail.
    let _ = writeln!(
        text,
        "# HELP flashdrill_proxy_tasks Accept loops, connections, and calls of the API.\n\
         # TYPE flashdrill_proxy_tasks gauge\nflashdrill_proxy_tasks {tasks}"
    );
    text
}

fn family<'a>(
    text: &mut String,
    what: &str,
    links: impl Iterator<Item = &'a Link>,
    value: impl Fn(&DirectionTraffic) -> u64,
) {
    let name = format!("toxiproxy_proxy_{what}_bytes_total");
    let _ = writeln!(text, "# HELP {name} \n# TYPE {name} counter");
    for link in links {
        let (view, traffic) = (link.view(), link.traffic());
        for (stream, direction) in [
            (Stream::Upstream, traffic.upstream),
            (Stream::Downstream, traffic.downstream),
        ] {
            let _ = writeln!(
                text,
                r#"{name}{{direction="{}",listener="{}",proxy="{}",upstream="{}"}} {}"#,
                stream.name(),
                view.listen,
                escaped(&view.name),
                escaped(&view.upstream),
                value(&direction),
            );
        }
    }
}

fn escaped(label: &str) -> String {
    label
        .replace('\\', r"\\")
        .replace('"', r#"\""#)
        .replace('\n', r"\n")
}
