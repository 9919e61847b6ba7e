//! A client of RocketMQ's remoting protocol, as much of it as tests of a broker need.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

pub const END_TRANSACTION: u16 = 37;
pub const ONE_WAY: u32 = 2;
const SEND: u16 = 10;
const PULL: u16 = 11;
const GET_MAX_OFFSET: u16 = 30;
/// Long enough for a broker on a busy machine.
const SOON: Duration = Duration::from_secs(20);

/// One connection.
pub struct Client {
    stream: TcpStream,
    opaque: u64,
}

pub type Fields<'f> = &'f [(&'f str, &'f str)];

impl Client {
    pub async fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        Self { stream, opaque: 0 }
    }

    pub async fn send(&mut self, code: u16, flag: u32, fields: Fields<'_>, body: &[u8]) {
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
    pub async fn receive(&mut self) -> (Value, Vec<u8>) {
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

    /// The answer to a request; what the broker asks meanwhile is left out.
    pub async fn ask(&mut self, code: u16, fields: Fields<'_>, body: &[u8]) -> (Value, Vec<u8>) {
        self.send(code, 0, fields, body).await;
        loop {
            let (header, body) = self.receive().await;
            if header["flag"] == 1 {
                assert_eq!(header["opaque"], json!(self.opaque), "{header}");
                return (header, body);
            }
        }
    }

    /// The answer of success to a request.
    pub async fn call(&mut self, code: u16, fields: Fields<'_>, body: &[u8]) -> (Value, Vec<u8>) {
        let (header, body) = self.ask(code, fields, body).await;
        assert_eq!(header["code"], json!(0), "{header}");
        (header, body)
    }

    /// What the broker says of a message that it has taken.
    pub async fn send_message(&mut self, topic: &str, is_half: bool) -> Value {
        let header = self.offer_message(topic, is_half).await;
        assert_eq!(header["code"], json!(0), "{header}");
        header["extFields"].clone()
    }

    /// The header of its answer to a message, which it may refuse.
    pub async fn offer_message(&mut self, topic: &str, is_half: bool) -> Value {
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
        self.ask(SEND, &fields, b"an order").await.0
    }

    /// Messages that the queue has.
    pub async fn messages(&mut self, topic: &str) -> String {
        let fields = [("topic", topic), ("queueId", "0")];
        let (header, _) = self.call(GET_MAX_OFFSET, &fields, b"").await;
        header["extFields"]["offset"].as_str().unwrap().to_owned()
    }

    /// The body of a pull, and where the next one is to begin.
    pub async fn pull(&mut self, topic: &str, offset: &str) -> (Vec<u8>, String) {
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
