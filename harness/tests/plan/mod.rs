//! A plan for tests that need no drill file.

use std::collections::BTreeMap;

use flashdrill::drill::plan::{Expect, Load, Plan, Sale, ServiceLevels, Sku};
use flashdrill::load::population::Population;
use flashdrill::load::schedule::Schedule;
use flashdrill::target::{Role, StateQueries, Target};

/// Sale `sale-1` of the given SKUs and their stock.
pub fn sale_of(skus: &[(&str, u32)], queries: StateQueries) -> Plan {
    let skus = skus.iter().map(|(id, stock)| Sku {
        id: (*id).to_owned(),
        stock: *stock,
    });
    Plan {
        drill: "test".to_owned(),
        title: String::new(),
        controls: Vec::new(),
        seed: 1,
        service: vec![Role::default()],
        sale: Sale {
            id: "sale-1".to_owned(),
            skus: skus.collect(),
            limit_per_user: 1,
            opens_at_ms: 0,
            top_ups: Vec::new(),
        },
        load: Load {
            schedule: Schedule::of(Vec::new()),
            connections: 1,
            depth: 1,
            timeout_ms: 1_000,
            fitted: None,
        },
        population: Population::of(1),
        journeys: None,
        faults: Vec::new(),
        expect: Expect {
            checks: Vec::new(),
            sent_share_min: 0.999,
            schedule_lag_us_p99_max: 1_000,
            phase_lag_us_p99_max: BTreeMap::new(),
            recover_ms_max: 30_000,
            converge_ms_max: 30_000,
            backlog_max: None,
            store_calls_per_refusal_max: 0.1,
            alerts: Vec::new(),
            service_levels: ServiceLevels::default(),
            sell_out: false,
        },
        mutants: Vec::new(),
        variants: Vec::new(),
        target: Target {
            name: "bundled service".to_owned(),
            order_id_field: "order_id".to_owned(),
            state: queries,
            ..Target::default()
        },
    }
}
