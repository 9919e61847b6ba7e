//! The load in figures: sent against offered, lag and latency, answers by kind.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::super::ReportInput;
use crate::figures::{count, ms, percent, rate, us};
use crate::load::summary::{LoadSummary, Percentiles, PhaseSummary};

pub fn section(input: &ReportInput<'_>) -> Markup {
    let load = &input.evidence.load;
    html! {
        section {
            h2 { "Load" }
            @if let Some(fitted) = &input.evidence.plan.load.fitted { p.bad { (fitted.to_string()) } }
            (sending(load))
            (latencies(load))
            @if !load.phases.is_empty() { (phases(load)) }
            div.columns {
                (counts("Buy attempts", &load.outcomes))
                @if !load.follow_ups.is_empty() { (counts("Follow-ups", &load.follow_ups)) }
            }
        }
    }
}

fn sending(load: &LoadSummary) -> Markup {
    html! {
        dl {
            dt { "Offered" } dd { (count(load.offered)) " requests in " (ms(load.duration_ms)) ", " (rate(load.offered_per_s)) "/s" }
            dt { "Sent" } dd { (count(load.sent)) " (" (percent(load.sent_share)) "), " (rate(load.sent_per_s)) "/s" }
            dt { "Late, dropped" } dd { (count(load.late)) " sent more than 1 ms after their time, " (count(load.dropped)) " never sent" }
            @if load.retries.sent > 0 {
                dt { "Clicked again" } dd { (count(load.retries.sent)) " times outside the schedule, by buyers who were not served before" }
            }
            @if let Some(why) = &load.aborted { dt { "Cut short" } dd { b.bad { (why) } } }
            dt { "Generator" } dd { (generator(load)) }
            dt { "Machine" } dd { (load.host.to_string()) }
            @if let Some(cause) = &load.held_up_by { dt { "Held up" } dd { (cause) } }
        }
    }
}

fn generator(load: &LoadSummary) -> String {
    let each_us = load.generator_cpu_ms as f64 * 1e3 / load.sent.max(1) as f64;
    let strain = &load.strain;
    let priority = if strain.goes_first {
        "real-time"
    } else {
        "ordinary"
    };
    format!(
        "{} of CPU, {each_us:.1} µs a request; {priority} priority; woken late {} times, {} at worst",
        ms(load.generator_cpu_ms),
        count(strain.stalls),
        us(strain.stalled_ns_max / 1_000)
    )
}

fn latencies(load: &LoadSummary) -> Markup {
    let rows: [(&str, &str, &Percentiles); 3] = [
        ("Schedule lag", "intended to sent", &load.schedule_lag_us),
        ("Service time", "sent to answer", &load.service_us),
        ("Response time", "intended to answer", &load.response_us),
    ];
    html! {
        div.scroll { table {
            thead { tr { th { "Time" } th { "p50" } th { "p90" } th { "p99" } th { "p99.9" } th { "max" } } }
            tbody {
                @for (name, from_to, one) in rows {
                    tr {
                        th { (name) small { " " (from_to) } }
                        td { (us(one.p50)) } td { (us(one.p90)) } td { (us(one.p99)) }
                        td { (us(one.p999)) } td { (us(one.max)) }
                    }
                }
            }
        } }
    }
}

fn phases(load: &LoadSummary) -> Markup {
    html! {
        div.scroll { table {
            thead { tr { th { "Phase" } th { "offered" } th { "sent" } th { "late" } th { "lag p99" } th { "service p99" } th { "response p50" } th { "response p99" } } }
            tbody { @for one in &load.phases { (phase(one)) } }
        } }
    }
}

fn phase(one: &PhaseSummary) -> Markup {
    html! {
        tr {
            th { (one.name) }
            td { (count(one.offered)) } td { (count(one.sent)) } td { (count(one.late)) } td { (us(one.schedule_lag_us.p99)) }
            td { (us(one.service_us.p99)) }
            td { (us(one.response_us.p50)) } td { (us(one.response_us.p99)) }
        }
    }
}

fn counts(title: &str, counts: &BTreeMap<String, u64>) -> Markup {
    html! {
        table {
            thead { tr { th { (title) } th { "number" } } }
            tbody {
                @for (name, number) in counts {
                    tr { th { (name.replace(':', ": ").replace('_', " ")) } td { (count(*number)) } }
                }
            }
        }
    }
}
