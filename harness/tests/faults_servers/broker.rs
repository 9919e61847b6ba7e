//! Faults of RocketMQ.

use std::time::Duration;

use flashdrill::faults::{BrokerCommitLost, BrokerDuplicateDelivery, Fault, NameServerKill};
use tokio::time::timeout;

use super::broker_client::{Client, END_TRANSACTION, ONE_WAY};
use super::ground::{Ground, SOON, healed, without_receipt};

/// On the service's link.
async fn connect(ground: &Ground) -> Client {
    let port = ground.stack.rocketmq.broker_address.port();
    Client::connect(([127, 0, 0, 1], port).into()).await
}

/// Where the next pull is to begin.
async fn pull(client: &mut Client, offset: &str) -> String {
    client.pull("twice", offset).await.1
}

fn commit_lost() -> Fault {
    Fault::BrokerCommitLost(BrokerCommitLost { times: 1 })
}

/// That the broker asks back is shown by the proxy's own tests and by the drill `rocketmq/commit-lost`.
pub async fn commits_are_lost_on_their_way(ground: &Ground) {
    let mut client = connect(ground).await;
    let sending = async {
        // The first may come before the cut; all are one-way and name no message that there is.
        let fields = [
            ("producerGroup", "shop"),
            ("tranStateTableOffset", "0"),
            ("commitLogOffset", "0"),
            ("commitOrRollback", "8"),
            ("fromTransactionCheck", "false"),
            ("msgId", "K"),
        ];
        for _ in 0..100 {
            client.send(END_TRANSACTION, ONE_WAY, &fields, b"").await;
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let (event, ()) = ground.during(commit_lost(), sending).await;
    assert_eq!(healed(&event), "1 ends of transactions lost");
    let event = ground.unnoticed(commit_lost()).await;
    without_receipt(&event, "no transaction was ended");
}

fn duplicate_delivery() -> Fault {
    Fault::BrokerDuplicateDelivery(BrokerDuplicateDelivery { times: 1 })
}

pub async fn messages_are_delivered_twice(ground: &Ground) {
    let mut client = connect(ground).await;
    client.send_message("twice", false).await;
    client.send_message("twice", false).await;
    let both_are_there = async {
        while pull(&mut client, "1").await != "2" {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(SOON, both_are_there)
        .await
        .expect("two messages are stored");
    // A pull that is answered from another place than it asked for brings what the one before has brought.
    let pulling = async {
        while pull(&mut client, "0").await == "1" && pull(&mut client, "1").await == "2" {}
    };
    let (event, pulled) = ground
        .during(duplicate_delivery(), timeout(SOON, pulling))
        .await;
    assert_eq!(healed(&event), "1 pulls delivered twice");
    pulled.expect("a message came twice");
    let event = ground.unnoticed(duplicate_delivery()).await;
    without_receipt(&event, "no pull brought messages twice");
}

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
