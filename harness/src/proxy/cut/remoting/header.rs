//! The header of a frame, in either of its serializations.

use serde::Deserialize;
use serde_json::Value;

/// `RemotingCommand`'s flag bits.
const ANSWER: i32 = 1;
const ONE_WAY: i32 = 2;
/// Where a binary header has its opaque: after code (2 bytes), language (1) and version (2).
const BINARY_OPAQUE: std::ops::Range<usize> = 5..9;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Serialization {
    Json,
    Binary,
}

impl Serialization {
    pub(super) fn of(byte: u8) -> Option<Self> {
        match byte {
            0 => Some(Self::Json),
            1 => Some(Self::Binary),
            _ => None,
        }
    }
}

/// What of a header matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    pub serialization: Serialization,
    /// What is asked, or how it went.
    pub code: i32,
    /// The number that an answer shares with its request.
    pub opaque: i32,
    flag: i32,
}

#[derive(Debug, Deserialize)]
struct Json {
    code: i32,
    opaque: i32,
    #[serde(default)]
    flag: i32,
}

impl Header {
    /// `None` when the frame has no header of this protocol.
    pub fn read(frame: &[u8]) -> Option<Self> {
        let (serialization, header, _) = split(frame)?;
        let json = match serialization {
            Serialization::Json => serde_json::from_slice(header).ok()?,
            Serialization::Binary => Json {
                code: i16::from_be_bytes(*header.first_chunk()?).into(),
                opaque: i32::from_be_bytes(*header.get(BINARY_OPAQUE)?.first_chunk()?),
                flag: i32::from_be_bytes(*header.get(9..13)?.first_chunk()?),
            },
        };
        Some(Self {
            serialization,
            code: json.code,
            opaque: json.opaque,
            flag: json.flag,
        })
    }

    pub fn is_answer(&self) -> bool {
        self.flag & ANSWER != 0
    }

    /// Nobody waits for an answer.
    pub fn is_one_way(&self) -> bool {
        self.flag & ONE_WAY != 0
    }

    /// The same frame under another number.
    pub(super) fn with_opaque(self, frame: &[u8], opaque: i32) -> Option<Vec<u8>> {
        let (serialization, header, body) = split(frame)?;
        let header = match serialization {
            Serialization::Json => {
                let mut value: Value = serde_json::from_slice(header).ok()?;
                value["opaque"] = opaque.into();
                serde_json::to_vec(&value).ok()?
            }
            Serialization::Binary => {
                let mut header = header.to_vec();
                header
                    .get_mut(BINARY_OPAQUE)?
                    .copy_from_slice(&opaque.to_be_bytes());
                header
            }
        };
        Some(join(serialization, &header, body))
    }
}

/// Serialization, header and body of a whole frame.
pub(super) fn split(frame: &[u8]) -> Option<(Serialization, &[u8], &[u8])> {
    let (start, rest) = frame.get(4..)?.split_first_chunk::<4>()?;
    let length = u32::from_be_bytes([0, start[1], start[2], start[3]]) as usize;
    let (header, body) = rest.split_at_checked(length)?;
    Some((Serialization::of(start[0])?, header, body))
}

pub(super) fn join(serialization: Serialization, header: &[u8], body: &[u8]) -> Vec<u8> {
    let length = (4 + header.len() + body.len()) as u32;
    let mut start = (header.len() as u32).to_be_bytes();
    start[0] = match serialization {
        Serialization::Json => 0,
        Serialization::Binary => 1,
    };
    [&length.to_be_bytes()[..], &start, header, body].concat()
}

#[cfg(test)]
pub(in super::super) mod testing {
    use super::*;

    /// A frame with the extension fields `fields`.
    pub fn frame(
        serialization: Serialization,
        [code, opaque, flag]: [i32; 3],
        fields: &[(&str, &str)],
        body: &[u8],
    ) -> Vec<u8> {
        let header = match serialization {
            Serialization::Json => {
                let fields: serde_json::Map<String, Value> = fields
                    .iter()
                    .map(|(name, value)| ((*name).to_owned(), (*value).into()))
                    .collect();
                let header = serde_json::json!({
                    "code": code, "language": "RUST", "version": 1, "opaque": opaque, "flag": flag,
                    "extFields": fields, "serializeTypeCurrentRPC": "JSON",
                });
                serde_json::to_vec(&header).unwrap()
            }
            Serialization::Binary => {
                let mut map = Vec::new();
                for (name, value) in fields {
                    map.extend((name.len() as u16).to_be_bytes());
                    map.extend(name.as_bytes());
                    map.extend((value.len() as u32).to_be_bytes());
                    map.extend(value.as_bytes());
                }
                let remark = b"remark";
                [
                    &(code as i16).to_be_bytes()[..],
                    &[12, 0, 1],
                    &opaque.to_be_bytes(),
                    &flag.to_be_bytes(),
                    &(remark.len() as u32).to_be_bytes(),
                    remark,
                    &(map.len() as u32).to_be_bytes(),
                    &map,
                ]
                .concat()
            }
        };
        join(serialization, &header, body)
    }
}

#[cfg(test)]
mod tests {
    use super::testing::frame;
    use super::*;

    #[test]
    fn reads_both_serializations_and_changes_the_number_only() {
        for serialization in [Serialization::Json, Serialization::Binary] {
            let original = frame(serialization, [37, 7, ONE_WAY], &[("a", "b")], b"body");
            let header = Header::read(&original).unwrap();
            assert_eq!((header.code, header.opaque), (37, 7));
            assert!(header.is_one_way() && !header.is_answer());
            let other = header.with_opaque(&original, i32::MIN + 1).unwrap();
            let changed = Header::read(&other).unwrap();
            assert_eq!(changed.opaque, i32::MIN + 1);
            assert_eq!(
                changed
                    .with_opaque(&other, 7)
                    .map(|back| Header::read(&back)),
                Some(Some(header))
            );
            assert!(other.ends_with(b"body"));
        }
    }

    #[test]
    fn a_frame_shorter_than_its_header_has_none() {
        let whole = frame(Serialization::Binary, [1, 2, 0], &[], b"");
        for end in 0..20 {
            assert_eq!(Header::read(&whole[..end]), None, "{end}");
        }
    }
}
