//! What the load refuses, and how it ends when there is nobody to talk to or it is told to stop.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use flashdrill::drill::plan::Plan;
use flashdrill::load::LoadError;
use socket2::{Domain, Socket, Type};

use crate::run::{plan, ran, try_run};
use crate::script::{Act, Script, accepted};

fn refusal(plan: &Plan, address: &str) -> LoadError {
    match try_run(plan, address.parse().unwrap(), &Arc::default()) {
        Ok(_) => panic!("it ran"),
        Err(error) => error,
    }
}

#[test]
fn only_loopback_is_loaded() {
    for address in ["192.0.2.1:80", "0.0.0.0:80", "[2001:db8::1]:80"] {
        let error = refusal(&plan(1.0, 1), address);
        assert!(matches!(error, LoadError::NotLoopback { .. }), "{error}");
        assert!(error.to_string().contains(address), "{error}");
    }
}

#[test]
fn settings_that_mean_nothing_are_refused() {
    let mut no_connections = plan(1.0, 1);
    no_connections.load.connections = 0;
    let mut no_depth = plan(1.0, 1);
    no_depth.load.depth = 0;
    let mut no_sku = plan(1.0, 1);
    no_sku.sale.skus.clear();
    let mut no_phase = plan(1.0, 1);
    no_phase.load.schedule.phases.clear();
    for plan in [no_connections, no_depth, no_sku, no_phase] {
        let error = refusal(&plan, "127.0.0.1:1");
        assert!(matches!(error, LoadError::Setting { .. }), "{error}");
    }
}

#[test]
fn an_unknown_variable_is_named_with_its_request() {
    let mut plan = plan(1.0, 1);
    plan.target.requests.pay.path = "/{ordre_id}".into();
    let error = refusal(&plan, "127.0.0.1:1").to_string();
    assert!(error.contains("target.requests.pay"), "{error}");
    assert!(error.contains("{ordre_id}"), "{error}");
}

#[test]
fn nobody_listening_means_everything_is_dropped() {
    // Bound and never listening: the port stays ours and refuses.
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
    socket.bind(&any.into()).unwrap();
    let address = socket.local_addr().unwrap().as_socket().unwrap();
    let mut plan = plan(1_000.0, 200);
    plan.load.timeout_ms = 100;
    let ran = ran(&plan, address);
    assert_eq!((ran.summary.sent, ran.summary.dropped), (0, 200));
    assert_eq!(ran.summary.sent_share, 0.0);
    assert!(ran.operations.is_empty());
}

#[test]
fn a_cancelled_load_says_so_and_keeps_what_it_has() {
    let script = Script::run(|_| Act::Write(accepted()));
    let cancel = Arc::new(AtomicBool::new(false));
    let at_once = Arc::clone(&cancel);
    let canceller = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        at_once.store(true, Ordering::SeqCst);
    });
    let ran = try_run(&plan(500.0, 60_000), script.address, &cancel).unwrap();
    canceller.join().unwrap();
    assert!(ran.summary.aborted.is_some());
    assert!(ran.summary.sent > 0 && ran.summary.sent < ran.summary.offered);
    assert_eq!(ran.operations.len() as u64, ran.summary.sent);
}
