//! The extension fields of a header: a map of texts.

use serde_json::Value;

use super::header::{Serialization, join, split};

/// Where a binary header has its remark: after code, language, version, opaque and flag.
const BINARY_REMARK: usize = 13;

pub(super) fn get(frame: &[u8], name: &str) -> Option<String> {
    let (serialization, header, _) = split(frame)?;
    match serialization {
        Serialization::Json => {
            let header: Value = serde_json::from_slice(header).ok()?;
            match header.get("extFields")?.get(name)? {
                Value::String(text) => Some(text.clone()),
                other => Some(other.to_string()),
            }
        }
        Serialization::Binary => {
            let map = header.get(map_start(header)? + 4..)?;
            let value = entry(map, name)?;
            String::from_utf8(map.get(value)?.to_vec()).ok()
        }
    }
}

/// The same frame with another value of a field that it has.
pub(super) fn set(frame: &[u8], name: &str, value: &str) -> Option<Vec<u8>> {
    let (serialization, header, body) = split(frame)?;
    let header = match serialization {
        Serialization::Json => {
            let mut header: Value = serde_json::from_slice(header).ok()?;
            *header.get_mut("extFields")?.get_mut(name)? = value.into();
            serde_json::to_vec(&header).ok()?
        }
        Serialization::Binary => {
            let start = map_start(header)?;
            let map = header.get(start + 4..)?;
            let old = entry(map, name)?;
            let map = [
                &map[..old.start - 4],
                &(value.len() as u32).to_be_bytes(),
                value.as_bytes(),
                &map[old.end..],
            ]
            .concat();
            [&header[..start], &(map.len() as u32).to_be_bytes(), &map].concat()
        }
    };
    Some(join(serialization, &header, body))
}

/// Offset of the map's length in a binary header.
fn map_start(header: &[u8]) -> Option<usize> {
    let remark = u32::from_be_bytes(*header.get(BINARY_REMARK..)?.first_chunk()?) as usize;
    (BINARY_REMARK + 4).checked_add(remark)
}

/// Where the value of `name` is in a binary map: name length (2 bytes), name, value length (4), value, and so on.
fn entry(map: &[u8], name: &str) -> Option<std::ops::Range<usize>> {
    let mut at = 0;
    loop {
        let key_length: [u8; 2] = *map.get(at..)?.first_chunk()?;
        let key_end = at + 2 + usize::from(u16::from_be_bytes(key_length));
        let key = map.get(at + 2..key_end)?;
        let value_length = u32::from_be_bytes(*map.get(key_end..)?.first_chunk()?) as usize;
        let value = key_end + 4..(key_end + 4).checked_add(value_length)?;
        map.get(value.clone())?;
        if key == name.as_bytes() {
            return Some(value);
        }
        at = value.end;
    }
}

#[cfg(test)]
mod tests {
    use super::super::header::testing::frame;
    use super::*;

    #[test]
    fn a_field_changes_in_either_serialization() {
        let fields = [("topic", "orders"), ("queueOffset", "99"), ("queueId", "3")];
        for serialization in [Serialization::Json, Serialization::Binary] {
            let frame = frame(serialization, [11, 1, 0], &fields, b"body");
            assert_eq!(get(&frame, "queueOffset").as_deref(), Some("99"));
            assert_eq!(get(&frame, "none"), None);
            let changed = set(&frame, "queueOffset", "100").unwrap();
            assert_eq!(get(&changed, "queueOffset").as_deref(), Some("100"));
            assert_eq!(get(&changed, "queueId").as_deref(), Some("3"));
            assert!(changed.ends_with(b"body"));
            assert_eq!(
                set(&changed, "queueOffset", "99").as_deref(),
                Some(&frame[..])
            );
        }
    }

    #[test]
    fn a_broken_map_has_no_fields() {
        let whole = frame(Serialization::Binary, [11, 1, 0], &[("a", "b")], b"");
        for end in 8..whole.len() {
            let mut cut = whole[..end].to_vec();
            cut[4..8].copy_from_slice(&((end - 8) as u32 | 1 << 24).to_be_bytes());
            assert_eq!(get(&cut, "a"), None, "{end}");
            assert_eq!(set(&cut, "a", "c"), None, "{end}");
        }
    }
}
