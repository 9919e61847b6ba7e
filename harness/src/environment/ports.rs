//! Free loopback ports for servers and listeners.
//!
//! They are taken from below the kernel's ephemeral range: a port inside it could be given to an
//! outgoing connection while its server is down, and a killed server must come back on its port.

use std::collections::HashSet;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::error::EnvironmentError;

/// Below are the ports that well-known servers use.
const PORT_MIN: u16 = 11_000;
/// Linux's default lower end of the ephemeral range.
const EPHEMERAL_DEFAULT: u16 = 32_768;
const TRIES: u32 = 1_000;

/// Ports handed out by this process: a server that is down keeps its own.
static TAKEN: Mutex<Option<HashSet<u16>>> = Mutex::new(None);

/// A port nobody listens on at 127.0.0.1. It is not held: a server that loses a race for it dies
/// with "address in use", and is tried again with another.
///
/// # Errors
/// None was found.
pub fn free_port() -> Result<u16, EnvironmentError> {
    choose(&|port| [(Ipv4Addr::LOCALHOST, port)].to_vec())
}

/// A port for which every address that `needed` lists can be bound.
pub(crate) fn choose(
    needed: &dyn Fn(u16) -> Vec<(Ipv4Addr, u16)>,
) -> Result<u16, EnvironmentError> {
    let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
    let taken = taken.get_or_insert_default();
    let (low, high) = range();
    for attempt in 0..TRIES {
        let port = low + (roll(attempt) % u64::from(high - low)) as u16;
        let needed = needed(port);
        let free = needed
            .iter()
            .all(|(ip, p)| !taken.contains(p) && can_bind(*ip, *p));
        if free {
            taken.extend(needed.into_iter().map(|(_, p)| p));
            return Ok(port);
        }
    }
    Err(EnvironmentError::NoFreePort { tries: TRIES })
}

/// Every port handed out so far.
pub(crate) fn given() -> HashSet<u16> {
    let taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
    taken.clone().unwrap_or_default()
}

/// Different in every process and at every call: two runs on one machine must not walk in step.
fn roll(attempt: u32) -> u64 {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let seed = now.as_nanos() as u64 ^ (u64::from(std::process::id()) << 32);
    xxh3_64_with_seed(&attempt.to_le_bytes(), seed)
}

fn range() -> (u16, u16) {
    let high = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range")
        .ok()
        .and_then(|text| {
            text.split_whitespace()
                .next()
                .and_then(|low| low.parse().ok())
        })
        .unwrap_or(EPHEMERAL_DEFAULT);
    // A machine that gives nearly every port away leaves no room below: then anything goes.
    if high > PORT_MIN + 2_000 {
        (PORT_MIN, high)
    } else {
        (PORT_MIN, u16::MAX)
    }
}

fn can_bind(ip: Ipv4Addr, port: u16) -> bool {
    TcpListener::bind(SocketAddr::new(IpAddr::V4(ip), port)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_gives_a_port_twice_nor_one_that_is_taken() {
        let ports: Vec<u16> = (0..200).map(|_| free_port().unwrap()).collect();
        let distinct: HashSet<u16> = ports.iter().copied().collect();
        assert_eq!(distinct.len(), ports.len());
        let held = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        assert!(!can_bind(
            Ipv4Addr::LOCALHOST,
            held.local_addr().unwrap().port()
        ));
    }

    #[test]
    fn stays_out_of_the_ephemeral_range() {
        let (low, high) = range();
        let port = free_port().unwrap();
        assert!((low..high).contains(&port), "{port} not in {low}..{high}");
    }
}
