//! Faults of RocketMQ.

use std::collections::BTreeMap;
use std::time::Duration;

use flashdrill::faults::{BrokerCommitLost, BrokerDuplicateDelivery, Fault, NameServerKill};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::ground::{Ground, SOON, healed, without_receipt};

const SEND_MESSAGE: u16 = 10;
const PULL_MESSAGE: u16 = 11;
const END_TRANSACTION: u16 = 37;
const ONE_WAY: u32 = 2;

/// A client of the remoting protocol on the service's link, as much of it as these tests need.
struct Client(TcpStream);

type Fields<'f> = &'f [(&'f str, &'f str)];

impl Client {
    async fn connect(ground: &Ground) -> Self {
        let port = ground.stack.rocketmq.broker_address.port();
        Self(TcpStream::connect(("127.0.0.1", port)).await.unwrap())
    }

    async fn send(&mut self, code: u16, flag: u32, fields: Fields<'_>, body: &[u8]) {
        let fields: BTreeMap<_, _> = fields.iter().copied().collect();
        let header = json!({
            "code": code, "language": "OTHER", "version": 493, "opaque": 1, "flag": flag,
            "extFields": fields, "serializeTypeCurrentRPC": "JSON",
        });
        let header = serde_json::to_vec(&header).unwrap();
        let length = (4 + header.len() + body.len()) as u32;
        let start = [length.to_be_bytes(), (header.len() as u32).to_be_bytes()].concat();
        let frame = [&start, &header, body].concat();
        self.0.write_all(&frame).await.unwrap();
    }

    /// The header of the answer.
    async fn call(&mut self, code: u16, fields: Fields<'_>, body: &[u8]) -> Value {
        self.send(code, 0, fields, body).await;
        let length = self.0.read_u32().await.unwrap() as usize;
        let mut frame = vec![0; length];
        self.0.read_exact(&mut frame).await.unwrap();
        let header = u32::from_be_bytes([0, frame[1], frame[2], frame[3]]) as usize;
        serde_json::from_slice(&frame[4..4 + header]).unwrap()
    }

    async fn store(&mut self, topic: &str) {
        let fields = [
            ("producerGroup", "shop"),
            ("topic", topic),
            ("defaultTopic", "TBW102"),
            ("defaultTopicQueueNums", "1"),
            ("queueId", "0"),
            ("sysFlag", "0"),
            ("bornTimestamp", "0"),
            ("flag", "0"),
            ("properties", ""),
            ("reconsumeTimes", "0"),
            ("unitMode", "false"),
            ("batch", "false"),
        ];
        let answer = self.call(SEND_MESSAGE, &fields, b"an order").await;
        assert_eq!(answer["code"], 0, "{answer}");
    }

    /// Where the next pull is to begin.
    async fn pull(&mut self, topic: &str, offset: &str) -> String {
        let fields = [
            ("consumerGroup", "warehouse"),
            ("topic", topic),
            ("queueId", "0"),
            ("queueOffset", offset),
            ("maxMsgNums", "1"),
            ("sysFlag", "4"),
            ("commitOffset", "0"),
            ("suspendTimeoutMillis", "0"),
            ("subscription", "*"),
            ("subVersion", "0"),
        ];
        let answer = self.call(PULL_MESSAGE, &fields, b"").await;
        let next = answer["extFields"]["nextBeginOffset"].as_str();
        next.unwrap_or_else(|| panic!("no offset: {answer}"))
            .to_owned()
    }
}

fn commit_lost() -> Fault {
    Fault::BrokerCommitLost(BrokerCommitLost { times: 1 })
}

/// That the broker asks back is shown by the proxy's own tests and by the drill `rocketmq/commit-lost`.
pub async fn commits_are_lost_on_their_way(ground: &Ground) {
    let mut client = Client::connect(ground).await;
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
    let mut client = Client::connect(ground).await;
    client.store("twice").await;
    client.store("twice").await;
    let both_are_there = async {
        while client.pull("twice", "1").await != "2" {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(SOON, both_are_there)
        .await
        .expect("two messages are stored");
    // A pull that is answered from another place than it asked for brings what the one before has brought.
    let pulling = async {
        while client.pull("twice", "0").await == "1" && client.pull("twice", "1").await == "2" {}
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
