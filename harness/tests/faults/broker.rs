//! Faults of the broker.

use std::time::Duration;

use flashdrill::environment::Stack;
use flashdrill::faults::{BrokerKill, Fault};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{missing, planned, receipt, run, run_all, run_unless_cancelled};

fn broker_kill(cut_requests_ms: u64) -> Fault {
    Fault::BrokerKill(BrokerKill { cut_requests_ms })
}

/// Sends the broker frames through the service's link, as a client would, until it is closed.
async fn talk_to_the_broker(stack: &Stack) {
    let port = stack.rocketmq.broker_address.port();
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let header = br#"{"code":28,"language":"OTHER","version":0,"opaque":7,"flag":0}"#;
    let length = header.len() as u32;
    let frame = [
        &(length + 4).to_be_bytes()[..],
        &length.to_be_bytes()[..],
        header.as_slice(),
    ]
    .concat();
    let mut answer = [0; 4096];
    loop {
        tokio::select! {
            read = stream.read(&mut answer) => if matches!(read, Ok(0) | Err(_)) { return },
            () = tokio::time::sleep(Duration::from_millis(5)) => {
                if stream.write_all(&frame).await.is_err() { return }
            }
        }
    }
}

pub async fn a_killed_broker_comes_back(stack: &Stack) {
    stack.rocketmq.create_topic("orders", 20).await.unwrap();
    let kill = run_all(stack, vec![planned(300, 1_000, broker_kill(200))]);
    let (mut events, ()) = tokio::join!(kill, talk_to_the_broker(stack));
    let receipt = receipt(events.remove(0));
    assert!(receipt.contains("signal 9"), "{receipt}");
    assert!(!receipt.contains("; 0 bytes"), "{receipt}");
    assert_eq!(stack.rocketmq.backlog("orders", "group").await.unwrap(), 0);
}

/// Nobody talks to the broker: nothing is held back, so there is no proof that the fault bit.
pub async fn a_fault_without_effect_has_no_receipt(stack: &Stack) {
    let reason = missing(run(stack, 50, broker_kill(50)).await);
    assert!(reason.contains("no request"), "{reason}");
}

pub async fn a_cancelled_fault_is_not_injected(stack: &Stack) {
    let planned = vec![planned(60_000, 60_000, broker_kill(0))];
    let event = run_unless_cancelled(stack, planned, true).await.remove(0);
    let error = event.error.expect("a reason");
    assert!(error.contains("cancelled"), "{error}");
    assert!(stack.rocketmq.broker.is_alive());
}
