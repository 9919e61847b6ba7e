//! RocketMQ's remoting protocol, as much of it as administration needs: one request, one answer.
//!
//! Frame: total length (u32, not counting itself), header length (u32, its top byte 0 for JSON),
//! JSON header, body. Source: `RemotingCommand` of Apache RocketMQ 5.3.3.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

const CALL_TIMEOUT: Duration = Duration::from_secs(3);
/// No answer of an administrative request comes near it.
const FRAME_BYTES_MAX: usize = 64 << 20;
/// `RemotingCommand`'s flag bit of an answer.
const ANSWER_FLAG: u32 = 1;

/// Request codes (`RequestCode`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
pub(super) enum Request {
    UpdateTopic = 17,
    BrokerConfig = 26,
    BrokerRuntimeInfo = 28,
    ClusterInfo = 106,
    ConsumeStats = 208,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct RequestHeader<'h> {
    code: u16,
    language: &'static str,
    version: u16,
    opaque: u32,
    flag: u32,
    ext_fields: &'h BTreeMap<&'static str, String>,
}

#[derive(Debug, Deserialize)]
struct AnswerHeader {
    code: u32,
    opaque: u32,
    flag: u32,
    remark: Option<String>,
}

/// Sends one request over a connection of its own and returns the answer's body.
///
/// # Errors
/// In words: no connection, no answer in time, or the server's refusal.
pub(super) async fn call(
    address: SocketAddr,
    request: Request,
    fields: &BTreeMap<&'static str, String>,
) -> Result<Vec<u8>, String> {
    let exchange = async {
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(&frame(request, fields)).await?;
        read_answer(&mut stream).await
    };
    match timeout(CALL_TIMEOUT, exchange).await {
        Ok(Ok((AnswerHeader { code: 0, .. }, body))) => Ok(body),
        Ok(Ok((header, _))) => {
            let remark = header.remark.unwrap_or_default();
            Err(format!(
                "{request:?} at {address} answered code {}: {remark}",
                header.code
            ))
        }
        Ok(Err(error)) => Err(format!("{request:?} at {address}: {error}")),
        Err(_) => Err(format!(
            "{request:?} at {address}: no answer within {CALL_TIMEOUT:?}"
        )),
    }
}

fn frame(request: Request, ext_fields: &BTreeMap<&'static str, String>) -> Vec<u8> {
    let header = RequestHeader {
        code: request as u16,
        language: "OTHER",
        version: 0,
        opaque: 1,
        flag: 0,
        ext_fields,
    };
    let header = serde_json::to_vec(&header).expect("plain fields always serialise");
    let length = header.len() as u32;
    let mut frame = Vec::with_capacity(header.len() + 8);
    frame.extend((length + 4).to_be_bytes());
    frame.extend(length.to_be_bytes());
    frame.extend(header);
    frame
}

/// Skips what the server asks of its own accord (it asks producers to check transactions).
async fn read_answer(stream: &mut TcpStream) -> io::Result<(AnswerHeader, Vec<u8>)> {
    loop {
        let length = stream.read_u32().await? as usize;
        if !(4..=FRAME_BYTES_MAX).contains(&length) {
            return Err(io::Error::other(format!("a frame of {length} bytes")));
        }
        let mut frame = vec![0; length];
        stream.read_exact(&mut frame).await?;
        let (header, body) = split(&frame)?;
        if header.flag & ANSWER_FLAG == ANSWER_FLAG && header.opaque == 1 {
            return Ok((header, body.to_vec()));
        }
    }
}

fn split(frame: &[u8]) -> io::Result<(AnswerHeader, &[u8])> {
    let strange = || io::Error::other("a frame whose header is longer than itself");
    let (length, rest) = frame.split_first_chunk::<4>().ok_or_else(strange)?;
    let [kind, length @ ..] = *length;
    if kind != 0 {
        return Err(io::Error::other("a header that is not JSON"));
    }
    let length = u32::from_be_bytes([0, length[0], length[1], length[2]]) as usize;
    let (header, body) = rest.split_at_checked(length).ok_or_else(strange)?;
    Ok((serde_json::from_slice(header)?, body))
}

/// Sum of `brokerOffset - consumerOffset` over the queues of a ConsumeStats body. The body is not
/// JSON: its map has objects for keys. So the two numbers of each queue are picked out of the text.
pub(super) fn lag(body: &str) -> Option<u64> {
    let mut lag = 0;
    for queue in body
        .split('{')
        .filter(|part| part.contains("\"brokerOffset\""))
    {
        let (stored, consumed) = (
            number(queue, "brokerOffset")?,
            number(queue, "consumerOffset")?,
        );
        lag += stored.saturating_sub(consumed).max(0).unsigned_abs();
    }
    Some(lag)
}

fn number(text: &str, name: &str) -> Option<i64> {
    let (_, rest) = text.split_once(&format!("\"{name}\":"))?;
    let end = rest
        .find(|c: char| c != '-' && !c.is_ascii_digit())
        .unwrap_or(rest.len());
    rest[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_up_the_lag_of_all_queues() {
        let body = r#"{"consumeTps":0.0,"offsetTable":{{"brokerName":"b","queueId":0,"topic":"t"}:
            {"brokerOffset":10,"consumerOffset":4,"lastTimestamp":1,"pullOffset":4},
            {"brokerName":"b","queueId":1,"topic":"t"}:{"consumerOffset":7,"brokerOffset":7}}}"#;
        assert_eq!(lag(body), Some(6));
        assert_eq!(lag(r#"{"consumeTps":0.0,"offsetTable":{}}"#), Some(0));
        assert_eq!(
            lag(r#"{{}:{"brokerOffset":10}}"#),
            None,
            "half an entry is no zero"
        );
    }

    #[test]
    fn splits_what_it_frames_and_refuses_damage() {
        let header = br#"{"code":0,"opaque":1,"flag":1}"#;
        let mut frame = (header.len() as u32).to_be_bytes().to_vec();
        frame.extend(header);
        frame.extend(b"body");
        let (answer, body) = split(&frame).unwrap();
        assert_eq!((answer.code, body), (0, b"body".as_slice()));
        for damaged in [&frame[..2], &frame[..10], &[1, 0, 0, 0]] {
            assert!(split(damaged).is_err(), "{damaged:?}");
        }
    }
}
