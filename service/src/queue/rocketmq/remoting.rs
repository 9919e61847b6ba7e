//! One request and its answer in RocketMQ's remoting protocol, on a connection of its own.
//!
//! Only for probing and administration, where the client library's pooled connections and their back-off are
//! in the way. Frame (`docs/cn/design.md` of apache/rocketmq, `RemotingCommand.java`): total length (4 bytes),
//! serialisation type (1) and header length (3), JSON header, body.

use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::QueueError;

/// Longer than any healthy answer, short enough to notice an outage within a second.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(1);
/// No answer to our requests is larger.
const FRAME_BYTES_MAX: usize = 4 << 20;
const SUCCESS: i64 = 0;
/// Version 5.3.3 (`MQVersion.java`); servers choose formats by it.
const VERSION: i64 = 479;

/// A request by its code (`RequestCode.java`).
pub(super) struct Request {
    pub code: i64,
    /// Completes "could not be asked for ...".
    pub name: &'static str,
    pub fields: Map<String, Value>,
}

/// Sends `request` to `peer` (`host:port`) and returns the body of its successful answer.
pub(super) async fn call(peer: &str, request: &Request) -> Result<Vec<u8>, QueueError> {
    match timeout(ANSWER_TIMEOUT, exchange(peer, request)).await {
        Ok(answer) => answer,
        Err(_) => Err(QueueError::NoAnswer {
            peer: peer.to_owned(),
            request: request.name,
            after: ANSWER_TIMEOUT,
        }),
    }
}

async fn exchange(peer: &str, request: &Request) -> Result<Vec<u8>, QueueError> {
    let wrap = |source| QueueError::Io {
        peer: peer.to_owned(),
        request: request.name,
        source,
    };
    let mut stream = TcpStream::connect(peer).await.map_err(wrap)?;
    stream.write_all(&encode(request)).await.map_err(wrap)?;
    let length = stream.read_u32().await.map_err(wrap)? as usize;
    if !(4..=FRAME_BYTES_MAX).contains(&length) {
        return Err(bad_frame(peer, request, format!("length {length}")));
    }
    let mut frame = vec![0; length];
    stream.read_exact(&mut frame).await.map_err(wrap)?;
    let (header, body) = split(&frame).map_err(|detail| bad_frame(peer, request, detail))?;
    let code = header["code"].as_i64().unwrap_or(-1);
    if code == SUCCESS {
        return Ok(body.to_vec());
    }
    Err(QueueError::Refused {
        peer: peer.to_owned(),
        request: request.name,
        code,
        remark: header["remark"].as_str().unwrap_or_default().to_owned(),
    })
}

fn encode(request: &Request) -> Vec<u8> {
    let header = json!({
        "code": request.code,
        "language": "OTHER",
        "version": VERSION,
        "opaque": 1,
        "flag": 0,
        "extFields": request.fields,
        "serializeTypeCurrentRPC": "JSON",
    })
    .to_string();
    let length = header.len() as u32; // Serialisation type JSON is 0, so its byte stays empty.
    let mut frame = Vec::with_capacity(header.len() + 8);
    frame.extend_from_slice(&(length + 4).to_be_bytes());
    frame.extend_from_slice(&length.to_be_bytes());
    frame.extend_from_slice(header.as_bytes());
    frame
}

/// Header and body of a frame without its total length.
fn split(frame: &[u8]) -> Result<(Value, &[u8]), String> {
    let Some((prefix, rest)) = frame.split_first_chunk::<4>() else {
        return Err(format!("{} bytes", frame.len()));
    };
    let header_length = (u32::from_be_bytes(*prefix) & 0x00ff_ffff) as usize;
    if prefix[0] != 0 || header_length > rest.len() {
        return Err(format!("header prefix {prefix:02x?}"));
    }
    let (header, body) = rest.split_at(header_length);
    let header = serde_json::from_slice(header).map_err(|error| error.to_string())?;
    Ok((header, body))
}

fn bad_frame(peer: &str, request: &Request, detail: String) -> QueueError {
    QueueError::Frame {
        peer: peer.to_owned(),
        request: request.name,
        detail,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_can_be_split() {
        let request = Request {
            code: 30,
            name: "a test",
            fields: Map::from_iter([("topic".to_owned(), json!("orders"))]),
        };
        let frame = encode(&request);
        let total = u32::from_be_bytes(*frame.first_chunk().unwrap()) as usize;
        assert_eq!(total, frame.len() - 4);
        let (header, body) = split(&frame[4..]).unwrap();
        assert_eq!(header["code"], 30);
        assert_eq!(header["extFields"]["topic"], "orders");
        assert!(body.is_empty());
    }

    #[test]
    fn broken_frames_are_named() {
        let table: [(&[u8], &str); 4] = [
            (&[0, 0], "2 bytes"),
            (&[0, 0, 0, 9, b'{', b'}'], "header prefix"),
            (&[1, 0, 0, 2, b'{', b'}'], "header prefix"),
            (&[0, 0, 0, 2, b'{', b'{'], "key must be a string"),
        ];
        for (frame, expected) in table {
            let error = split(frame).unwrap_err();
            assert!(error.contains(expected), "{frame:?}: {error}");
        }
    }
}
