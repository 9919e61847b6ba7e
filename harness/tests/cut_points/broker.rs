use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::{Duration, UNIX_EPOCH};

use flashdrill::proxy::cut::{Action, Cut, Protocol};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::broker_server::broker;
use crate::{Fixture, LINK, SOON, link_to};

const SEND: u16 = 10;
const PULL: u16 = 11;
const GET_MAX_OFFSET: u16 = 30;
const HEART_BEAT: u16 = 34;
const END_TRANSACTION: u16 = 37;
const CHECK_TRANSACTION_STATE: u64 = 39;
const ONE_WAY: u32 = 2;
const COMMIT: &str = "8";

/// A client of the remoting protocol, as much of it as these tests need.
struct Client {
    stream: TcpStream,
    opaque: u64,
}

type Fields<'f> = &'f [(&'f str, &'f str)];

impl Client {
    async fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        Self { stream, opaque: 0 }
    }

    async fn send(&mut self, code: u16, flag: u32, fields: Fields<'_>, body: &[u8]) {
        self.opaque += 1;
        let fields: BTreeMap<_, _> = fields.iter().copied().collect();
        let header = json!({
            "code": code, "language": "OTHER", "version": 493, "opaque": self.opaque, "flag": flag,
            "extFields": fields, "serializeTypeCurrentRPC": "JSON",
        });
        let header = serde_json::to_vec(&header).unwrap();
        let length = (4 + header.len() + body.len()) as u32;
        let start = [length.to_be_bytes(), (header.len() as u32).to_be_bytes()].concat();
        self.stream
            .write_all(&[&start, &header, body].concat())
            .await
            .unwrap();
    }

    /// The next frame: its header and its body.
    async fn receive(&mut self) -> (Value, Vec<u8>) {
        let frame = async {
            let length = self.stream.read_u32().await.unwrap() as usize;
            let mut frame = vec![0; length];
            self.stream.read_exact(&mut frame).await.unwrap();
            frame
        };
        let frame = timeout(SOON, frame).await.expect("a frame comes");
        let header = u32::from_be_bytes([0, frame[1], frame[2], frame[3]]) as usize;
        let (header, body) = frame[4..].split_at(header);
        (serde_json::from_slice(header).unwrap(), body.to_vec())
    }

    /// The answer of success to a request; what the broker asks meanwhile is left out.
    async fn call(&mut self, code: u16, fields: Fields<'_>, body: &[u8]) -> (Value, Vec<u8>) {
        self.send(code, 0, fields, body).await;
        loop {
            let (header, body) = self.receive().await;
            if header["flag"] == 1 {
                assert_eq!(
                    (&header["code"], &header["opaque"]),
                    (&json!(0), &json!(self.opaque)),
                    "{header}"
                );
                return (header, body);
            }
        }
    }

    async fn send_message(&mut self, topic: &str, is_half: bool) -> Value {
        let (sys_flag, properties) = if is_half {
            (
                "4",
                "TRAN_MSG\u{1}true\u{2}PGROUP\u{1}shop\u{2}UNIQ_KEY\u{1}K\u{2}",
            )
        } else {
            ("0", "UNIQ_KEY\u{1}K\u{2}")
        };
        // Messages of long ago are not checked.
        let born = UNIX_EPOCH.elapsed().unwrap().as_millis().to_string();
        let fields = [
            ("producerGroup", "shop"),
            ("topic", topic),
            ("defaultTopic", "TBW102"),
            ("defaultTopicQueueNums", "1"),
            ("queueId", "0"),
            ("sysFlag", sys_flag),
            ("bornTimestamp", &born),
            ("flag", "0"),
            ("properties", properties),
            ("reconsumeTimes", "0"),
            ("unitMode", "false"),
            ("batch", "false"),
        ];
        let (header, _) = self.call(SEND, &fields, b"an order").await;
        header["extFields"].clone()
    }

    /// Messages that the queue has.
    async fn messages(&mut self, topic: &str) -> String {
        let fields = [("topic", topic), ("queueId", "0")];
        let (header, _) = self.call(GET_MAX_OFFSET, &fields, b"").await;
        header["extFields"]["offset"].as_str().unwrap().to_owned()
    }

    /// The body of a pull, and where the next one is to begin.
    async fn pull(&mut self, topic: &str, offset: &str) -> (Vec<u8>, String) {
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
        let (header, body) = self.call(PULL, &fields, b"").await;
        let next = header["extFields"]["nextBeginOffset"].as_str();
        (body, next.unwrap().to_owned())
    }
}

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
