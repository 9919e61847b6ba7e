//! The addresses that buyers say they come from (`{address}`): private ones for people, a small part of
//! the range for benchmarks for bots. Nothing is ever sent to them.

use std::net::Ipv4Addr;

/// 10.0.0.0/8: a person each, until its 16,777,216 addresses are used up and begin again.
const PEOPLE: u32 = 0x0a00_0000;
const PEOPLE_MAX: u64 = 1 << 24;
/// 198.18.0.0/15.
const BOTS: u32 = 0xc612_0000;
pub const BOT_ADDRESSES_MAX: u32 = 1 << 17;

pub fn of_person(user: u64) -> Ipv4Addr {
    Ipv4Addr::from(PEOPLE + (user % PEOPLE_MAX) as u32)
}

/// Bot number `bot` of many that share `addresses`, which is taken as 1 to [`BOT_ADDRESSES_MAX`].
pub fn of_bot(bot: u64, addresses: u32) -> Ipv4Addr {
    let addresses = addresses.clamp(1, BOT_ADDRESSES_MAX);
    Ipv4Addr::from(BOTS + (bot % u64::from(addresses)) as u32)
}

/// Length of the address as text.
pub fn text_len(address: Ipv4Addr) -> usize {
    let digits = |octet: &u8| match octet {
        0..10 => 1,
        10..100 => 2,
        100.. => 3,
    };
    address.octets().iter().map(digits).sum::<usize>() + 3
}

/// Appends the address as text, without a formatter: this runs for each request.
pub fn write(address: Ipv4Addr, out: &mut Vec<u8>) {
    for (at, octet) in address.octets().into_iter().enumerate() {
        if at > 0 {
            out.push(b'.');
        }
        if octet >= 100 {
            out.push(b'0' + octet / 100);
        }
        if octet >= 10 {
            out.push(b'0' + octet / 10 % 10);
        }
        out.push(b'0' + octet % 10);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_have_one_each_and_bots_share_few() {
        assert_eq!(of_person(0).to_string(), "10.0.0.0");
        assert_eq!(of_person(66_051).to_string(), "10.1.2.3");
        assert_eq!(of_person(PEOPLE_MAX - 1).to_string(), "10.255.255.255");
        assert_eq!(of_person(PEOPLE_MAX), of_person(0));
        assert_eq!(of_bot(0, 3).to_string(), "198.18.0.0");
        assert_eq!(of_bot(5, 3).to_string(), "198.18.0.2");
        let last = of_bot(u64::from(BOT_ADDRESSES_MAX) - 1, u32::MAX);
        assert_eq!(last.to_string(), "198.19.255.255");
    }

    #[test]
    fn the_text_is_the_standard_one() {
        for octet in 0..=255 {
            let address = Ipv4Addr::new(10, octet, 99 - octet % 100, octet / 2);
            let mut out = Vec::new();
            write(address, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), address.to_string());
            assert_eq!(text_len(address), address.to_string().len());
        }
    }
}
