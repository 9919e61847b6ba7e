//! Hash slots of Redis Cluster (cluster specification, "Key distribution model").

/// Slots of a cluster.
const SLOTS: u16 = 16_384;

/// The slot of a key: CRC16 of its hash tag, or of the whole key where it has none.
pub fn slot_of(key: &str) -> u16 {
    crc16(hash_tag(key).as_bytes()) % SLOTS
}

/// What is between the first `{` and the next `}`, unless that is nothing.
fn hash_tag(key: &str) -> &str {
    let tag = key
        .split_once('{')
        .and_then(|(_, rest)| rest.split_once('}'));
    match tag {
        Some((tag, _)) if !tag.is_empty() => tag,
        _ => key,
    }
}

/// CRC16-XMODEM: polynomial 0x1021, start 0, nothing reflected.
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc, byte| {
        (0..8).fold(crc ^ (u16::from(*byte) << 8), |crc, _| {
            if crc & 0x8000 == 0 {
                crc << 1
            } else {
                (crc << 1) ^ 0x1021
            }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_the_published_check_value_and_hash_tags() {
        assert_eq!(crc16(b"123456789"), 0x31c3);
        let cases = [
            ("foo", 12_182),
            ("{foo}", 12_182),
            ("a{foo}b{bar}", 12_182),
            ("fs:{foo}:stock", 12_182),
            ("", 0),
        ];
        for (key, slot) in cases {
            assert_eq!(slot_of(key), slot, "{key}");
        }
        assert_eq!(slot_of("{}foo"), crc16(b"{}foo") % SLOTS);
        assert_eq!(slot_of("foo{"), crc16(b"foo{") % SLOTS);
    }
}
