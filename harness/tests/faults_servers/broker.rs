//! Faults of RocketMQ.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use flashdrill::faults::{
    BrokerCommitLost, BrokerDuplicateDelivery, Fault, LinkDown, Links, ServerKill, ServerName,
};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::broker_client::{Client, END_TRANSACTION, ONE_WAY};
use super::ground::{Ground, SOON, count, healed, without_receipt};

const GET_ROUTEINFO_BY_TOPIC: u16 = 105;
const GET_BROKER_CLUSTER_INFO: u16 = 106;

fn local(port: u16) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, port).into()
}

/// Where the name server sends a node of the service that asks for the broker.
async fn way_to_broker(ground: &Ground, node: usize) -> SocketAddr {
    let links = ground.stack.service_links(node).await.unwrap();
    let mut name_server = Client::connect(local(links.namesrv)).await;
    let broker = links.broker.map(local).unwrap();
    for code in [GET_ROUTEINFO_BY_TOPIC, GET_BROKER_CLUSTER_INFO] {
        let fields = [("topic", "TBW102")];
        let (_, told) = name_server.call(code, &fields, b"").await;
        let told = String::from_utf8(told).unwrap();
        assert!(told.contains(&format!("\"{broker}\"")), "{told}");
    }
    broker
}

/// As the service's first node connects.
pub async fn connect(ground: &Ground) -> Client {
    Client::connect(way_to_broker(ground, 0).await).await
}

pub async fn one_node_is_cut_off_from_the_broker_and_another_is_not(ground: &Ground) {
    let (cut, open) = (
        way_to_broker(ground, 0).await,
        way_to_broker(ground, 1).await,
    );
    let mut open = Client::connect(open).await;
    let links = Links::new(vec!["service-0-broker".to_owned()]).unwrap();
    let refused = async {
        while TcpStream::connect(cut).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        open.send_message("cut-off", false).await;
    };
    let down = Fault::LinkDown(LinkDown { links });
    let (event, refused) = ground.during(down, timeout(SOON, refused)).await;
    healed(&event);
    refused.expect("the node's connects are refused");
    for client in [&mut open, &mut Client::connect(cut).await] {
        client.send_message("cut-off", false).await;
    }
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
    // A question that was asked when it died ends in another way.
    let is_refused = async {
        let refused = |error: String| error.contains("refused");
        while !rocketmq.broker_serves().await.is_err_and(refused) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let kill = Fault::ServerKill(ServerKill {
        server: ServerName::new("rocketmq-namesrv".to_owned()).unwrap(),
        sku: count(1),
    });
    let (event, refused) = ground.during(kill, timeout(SOON, is_refused)).await;
    assert!(healed(&event).contains("does not answer"), "{event:?}");
    refused.expect("the dead name server refuses");
    rocketmq.broker_serves().await.unwrap();
}
