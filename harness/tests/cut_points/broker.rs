use std::time::Duration;

use flashdrill::proxy::cut::{Action, Cut, Protocol};
use serde_json::json;
use tokio::time::timeout;

use crate::broker_client::{Client, END_TRANSACTION, ONE_WAY};
use crate::broker_server::broker;
use crate::{Fixture, LINK, SOON, link_to};

const HEART_BEAT: u16 = 34;
const CHECK_TRANSACTION_STATE: u64 = 39;
const COMMIT: &str = "8";

/// One broker for all: its start is what takes long.
#[tokio::test]
async fn on_a_real_broker() {
    let server = broker();
    let f = link_to(server.address).await;
    let mut client = Client::connect(f.listen).await;
    let producers = json!({"clientID": "test", "producerDataSet": [{"groupName": "shop"}], "consumerDataSet": []});
    let producers = serde_json::to_vec(&producers).unwrap();
    client.call(HEART_BEAT, &[], &producers).await;
    a_message_is_stored_twice(&f, &mut client).await;
    the_same_message_is_delivered_twice(&f, &mut client).await;
    a_lost_commit_notice_makes_the_broker_check_back(&f, &mut client).await;
    a_late_commit_notice_comes_all_the_same(&f, &mut client).await;
}

async fn a_message_is_stored_twice(f: &Fixture, client: &mut Client) {
    let cut = Cut::next(Protocol::Remoting, "SEND_MESSAGE", Action::Twice);
    f.client.add_cut(LINK, &cut).await.unwrap();
    client.send_message("twice", false).await;
    f.fired(&cut.name, 1).await;
    until_stored(client, "twice", "2").await;
    f.client.remove_cut(LINK, &cut.name).await.unwrap();
}

async fn the_same_message_is_delivered_twice(f: &Fixture, client: &mut Client) {
    client.send_message("pulled", false).await;
    client.send_message("pulled", false).await;
    until_stored(client, "pulled", "2").await;
    let cut = Cut::next(Protocol::Remoting, "PULL_MESSAGE", Action::Twice);
    f.client.add_cut(LINK, &cut).await.unwrap();
    let (first, next) = client.pull("pulled", "0").await;
    assert_eq!(next, "1");
    let (again, next) = client.pull("pulled", &next).await;
    assert_eq!((again == first, &next[..]), (true, "1"));
    let (second, next) = client.pull("pulled", &next).await;
    assert_eq!((second == first, &next[..]), (false, "2"));
    f.fired(&cut.name, 1).await;
    f.client.remove_cut(LINK, &cut.name).await.unwrap();
}

/// Commits a half message from what the broker told of it.
async fn commit(client: &mut Client, topic: &str, log_offset: &str, table_offset: &str) {
    let fields = [
        ("topic", topic),
        ("producerGroup", "shop"),
        ("tranStateTableOffset", table_offset),
        ("commitLogOffset", log_offset),
        ("commitOrRollback", COMMIT),
        ("fromTransactionCheck", "false"),
        ("msgId", "K"),
    ];
    client.send(END_TRANSACTION, ONE_WAY, &fields, b"").await;
}

/// Sends a half message and commits it.
async fn transaction(client: &mut Client, topic: &str) {
    let half = client.send_message(topic, true).await;
    // A message's id is its broker's address and its place in the log.
    let id = half["msgId"].as_str().unwrap();
    let log_offset = u64::from_str_radix(&id[id.len() - 16..], 16).unwrap();
    let table_offset = half["queueOffset"].as_str().unwrap();
    commit(client, topic, &log_offset.to_string(), table_offset).await;
}

async fn a_lost_commit_notice_makes_the_broker_check_back(f: &Fixture, client: &mut Client) {
    let cut = Cut::next(Protocol::Remoting, "END_TRANSACTION", Action::Drop);
    f.client.add_cut(LINK, &cut).await.unwrap();
    transaction(client, "checked").await;
    f.fired(&cut.name, 1).await;
    let check = loop {
        let (header, _) = client.receive().await;
        if header["code"] == CHECK_TRANSACTION_STATE {
            break header["extFields"].clone();
        }
    };
    let told = |name: &str| check[name].as_str().unwrap();
    commit(
        client,
        "checked",
        told("commitLogOffset"),
        told("tranStateTableOffset"),
    )
    .await;
    until_stored(client, "checked", "1").await;
    f.client.remove_cut(LINK, &cut.name).await.unwrap();
}

async fn a_late_commit_notice_comes_all_the_same(f: &Fixture, client: &mut Client) {
    let cut = Cut::next(
        Protocol::Remoting,
        "END_TRANSACTION",
        Action::Delay { delay_ms: 2_000 },
    );
    f.client.add_cut(LINK, &cut).await.unwrap();
    transaction(client, "late").await;
    assert_eq!(client.messages("late").await, "0");
    until_stored(client, "late", "1").await;
    f.fired(&cut.name, 1).await;
}

/// The broker sorts messages into their queues a little later than it stores them.
async fn until_stored(client: &mut Client, topic: &str, count: &str) {
    let stored = async {
        while client.messages(topic).await != count {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(SOON, stored)
        .await
        .expect("the messages are in their queue");
}
