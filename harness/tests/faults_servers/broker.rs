//! Faults of RocketMQ.

use std::time::Duration;

use flashdrill::faults::{Fault, NameServerKill};
use tokio::time::timeout;

use super::ground::{Ground, SOON, healed};

pub async fn without_its_name_server_nobody_finds_the_broker(ground: &Ground) {
    let rocketmq = &ground.stack.rocketmq;
    let not_found = async {
        loop {
            match rocketmq.broker_serves().await {
                Ok(()) => tokio::time::sleep(Duration::from_millis(20)).await,
                Err(error) => return error,
            }
        }
    };
    let kill = Fault::NameServerKill(NameServerKill {});
    let (event, error) = ground.during(kill, timeout(SOON, not_found)).await;
    assert!(healed(&event).contains("a lookup fails"), "{event:?}");
    assert!(
        error.unwrap().contains("refused"),
        "by the dead name server"
    );
    rocketmq.broker_serves().await.unwrap();
}
