//! What the load refuses, and how it ends when there is nobody to talk to or it is told to stop.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use flashdrill::load::LoadError;
use flashdrill::load::endpoint::Endpoint;
use flashdrill::load::spec::LoadSpec;
use socket2::{Domain, Socket, Type};

use crate::run::{ran, spec, try_run};
use crate::script::{Act, Script, accepted};

fn refusal(spec: &LoadSpec, address: &str) -> LoadError {
    match try_run(
        spec,
        Endpoint::at(address.parse().unwrap()).unwrap(),
        &Arc::default(),
    ) {
        Ok(_) => panic!("it ran"),
        Err(error) => error,
    }
}

#[test]
fn settings_that_mean_nothing_are_refused() {
    let mut no_connections = spec(1.0, 1);
    no_connections.load.connections = 0;
    let mut no_depth = spec(1.0, 1);
    no_depth.load.depth = 0;
    let mut no_sku = spec(1.0, 1);
    no_sku.skus.clear();
    let mut no_phase = spec(1.0, 1);
    no_phase.load.schedule.phases.clear();
    for spec in [no_connections, no_depth, no_sku, no_phase] {
        let error = refusal(&spec, "127.0.0.1:1");
        assert!(matches!(error, LoadError::Setting { .. }), "{error}");
    }
}

#[test]
fn an_unknown_variable_is_named_with_its_request() {
    let mut spec = spec(1.0, 1);
    spec.target.requests.pay.path = "/{ordre_id}".into();
    let error = refusal(&spec, "127.0.0.1:1").to_string();
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
    let mut spec = spec(1_000.0, 200);
    spec.load.timeout_ms = 100;
    let ran = ran(&spec, address);
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
    let endpoint = Endpoint::at(script.address).unwrap();
    let ran = try_run(&spec(500.0, 60_000), endpoint, &cancel).unwrap();
    canceller.join().unwrap();
    assert!(ran.summary.aborted.is_some());
    assert!(ran.summary.sent > 0 && ran.summary.sent < ran.summary.offered);
    assert_eq!(ran.operations.len() as u64, ran.summary.sent);
}
