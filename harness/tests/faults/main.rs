//! Faults on real servers: they bite, the receipts say so, and everything is healed.
//!
//! One stack for each of two groups: a fault that had not healed would show in those after it.

#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests may panic, as tests do"
)]

mod broker;
mod cluster;
mod links;
mod servers;
mod stores;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use flashdrill::drill::plan::PlannedFault;
use flashdrill::drill::plan::Sku;
use flashdrill::drill::range::Count;
use flashdrill::environment::{Setting, Stack, StackOptions};
use flashdrill::faults::{self, Fault, FaultEvent, Site, Timeline};
use flashdrill::history::FaultEpoch;
use flashdrill::target::template::Variables;
use flashdrill::target::{StateQueries, Target};

fn logs(test: &str) -> PathBuf {
    std::env::temp_dir().join(format!("flashdrill-test-{test}-{}", std::process::id()))
}

async fn start(test: &str) -> Stack {
    let progress = Arc::new(|line: &str| println!("{line}"));
    let options = StackOptions {
        name: test.to_owned(),
        keep_logs_in: logs(test),
        progress,
        setting: Setting::default(),
    };
    Stack::start(&options).await.expect("the stack starts")
}

async fn stop(stack: Stack, test: &str) {
    stack.stop().await;
    std::fs::remove_dir_all(logs(test)).unwrap();
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

/// A target of which only the Redis commands matter.
fn target() -> Target {
    Target {
        state: StateQueries {
            cache_available: words("HGET fs:{{{sale}:{sku}}}:stock available"),
            cache_held: words("HGETALL fs:{{{sale}:{sku}}}:held"),
            cache_add: words("HINCRBY fs:{{{sale}:{sku}}}:stock available {delta}"),
            ..StateQueries::default()
        },
        ..Target::default()
    }
}

fn variables(stack: &Stack) -> Variables {
    let mut variables = stack.variables();
    variables.insert("sale".to_owned(), "sale".to_owned());
    variables
}

fn count(value: u64) -> Count {
    Count::new(value).unwrap()
}

/// The run may drive faults from a task of its own.
fn spawnable<T: Send>(future: T) -> T {
    future
}

/// One fault, injected at once.
async fn run(stack: &Stack, for_ms: u64, fault: Fault) -> FaultEvent {
    run_all(stack, vec![planned(0, for_ms, fault)])
        .await
        .remove(0)
}

fn planned(at_ms: u64, for_ms: u64, fault: Fault) -> PlannedFault {
    PlannedFault {
        at_ms,
        for_ms: fault.about().heals.then_some(for_ms),
        fault,
    }
}

async fn run_all(stack: &Stack, planned: Vec<PlannedFault>) -> Vec<FaultEvent> {
    run_unless_cancelled(stack, planned, false).await
}

async fn run_unless_cancelled(
    stack: &Stack,
    planned: Vec<PlannedFault>,
    cancelled: bool,
) -> Vec<FaultEvent> {
    let cancel = AtomicBool::new(cancelled);
    let (target, variables) = (target(), variables(stack));
    let skus = [Sku {
        id: "s1".to_owned(),
        stock: 10,
    }];
    let site = Site {
        stack,
        target: &target,
        variables: &variables,
        skus: &skus,
    };
    let timeline = Timeline {
        epoch: &FaultEpoch::default(),
        clock: Instant::now(),
        cancel: &cancel,
        tell: &|event| println!("{}", event.news()),
    };
    spawnable(faults::run(&planned, site, timeline)).await
}

/// The receipt of a fault that bit, was healed, and met no trouble.
fn receipt(event: FaultEvent) -> String {
    assert_eq!(event.error, None, "{event:#?}");
    assert_eq!(event.heals, event.healed_at_ms.is_some(), "{event:#?}");
    event.receipt.expect("a receipt")
}

/// Why a fault that was healed has no receipt.
fn missing(event: FaultEvent) -> String {
    assert_eq!(event.receipt, None, "{event:#?}");
    assert_eq!(event.heals, event.healed_at_ms.is_some(), "{event:#?}");
    event.error.expect("a reason")
}

#[tokio::test(flavor = "multi_thread")]
async fn faults_of_the_cluster() {
    let stack = start("faults-cluster").await;
    cluster::a_killed_primary_loses_acknowledged_writes(&stack).await;
    cluster::a_partitioned_primary_loses_what_it_acknowledges(&stack).await;
    cluster::what_a_primary_sends_by_itself_is_no_write_lost(&stack).await;
    cluster::a_replica_without_replication_falls_behind(&stack).await;
    cluster::a_failover_swaps_the_pair_and_back(&stack).await;
    cluster::a_slot_moves_under_traffic_and_back(&stack).await;
    stores::writes_are_refused_at_the_memory_limit(&stack).await;
    stores::a_lost_key_is_gone(&stack).await;
    stores::raised_stock_is_seen(&stack).await;
    stop(stack, "faults-cluster").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn faults_of_links_and_servers() {
    let stack = start("faults-links").await;
    links::each_kind_bites_and_heals(&stack).await;
    links::two_faults_on_one_link_add_up_and_heal_apart(&stack).await;
    links::without_traffic_or_link_there_is_no_receipt(&stack).await;
    broker::a_killed_broker_comes_back(&stack).await;
    broker::a_fault_without_effect_has_no_receipt(&stack).await;
    broker::a_cancelled_fault_is_not_injected(&stack).await;
    servers::frozen_servers_do_not_answer_and_go_on(&stack).await;
    servers::killed_and_ended_servers_come_back(&stack).await;
    servers::a_server_that_is_not_there_is_named(&stack).await;
    stop(stack, "faults-links").await;
}
