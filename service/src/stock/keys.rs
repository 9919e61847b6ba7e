//! Keys of one SKU: fixed prefix, one hash tag, one slot.

/// Prefix of every key of the service.
const PREFIX: &str = "fs";

/// Slots of a Redis Cluster.
const SLOTS: u16 = 16384;

/// The keys of one SKU. All share the tag `{sale:sku}`, so that one script may touch them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keys {
    pub stock: String,
    pub held: String,
    pub ledger: String,
    pub deadlines: String,
    pub stream: String,
    pub slot: u16,
}

impl Keys {
    #[must_use]
    pub fn new(sale: &str, sku: &str) -> Self {
        let tag = format!("{sale}:{sku}");
        let key = |part: &str| format!("{PREFIX}:{{{tag}}}:{part}");
        Self {
            stock: key("stock"),
            held: key("held"),
            ledger: key("ledger"),
            deadlines: key("deadlines"),
            stream: key("stream"),
            slot: slot_of(tag.as_bytes()),
        }
    }

    /// In the order in which the scripts take them.
    #[must_use]
    pub fn all(&self) -> [&str; 5] {
        [
            &self.stock,
            &self.held,
            &self.ledger,
            &self.deadlines,
            &self.stream,
        ]
    }
}

/// Slot of a SKU's keys.
#[must_use]
pub fn slot_of_sku(sale: &str, sku: &str) -> u16 {
    slot_of(format!("{sale}:{sku}").as_bytes())
}

/// Slot of a hash tag: CRC16 (XMODEM) modulo 16384, as in the Redis Cluster specification.
fn slot_of(tag: &[u8]) -> u16 {
    let crc = tag.iter().fold(0u16, |crc, byte| {
        (0..8).fold(crc ^ (u16::from(*byte) << 8), |crc, _| {
            if crc & 0x8000 == 0 {
                crc << 1
            } else {
                (crc << 1) ^ 0x1021
            }
        })
    });
    crc % SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_those_of_the_specification() {
        // CRC16 of "123456789" is 0x31C3 there; the others are from CLUSTER KEYSLOT.
        for (tag, slot) in [("123456789", 0x31c3), ("foo", 12182), ("user1000", 3443)] {
            assert_eq!(slot_of(tag.as_bytes()), slot, "{tag}");
        }
    }

    #[test]
    fn all_keys_carry_the_prefix_and_the_tag() {
        let keys = Keys::new("s1", "k1");
        assert_eq!(
            keys.all().map(|key| key.starts_with("fs:{s1:k1}:")),
            [true; 5]
        );
    }
}
