//! Connects that hang: the kernel drops what comes to a listener before it can answer.
//!
//! A classic BPF program on the listening socket does it, as nothing in user space can: a listener that
//! does not accept still lets the kernel complete the handshake. Open connections are sockets of their
//! own, and unharmed.

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::AsFd;

use socket2::{SockFilter, SockRef};

use super::effect::Effect;
use super::toxic::Toxic;

/// Instructions of `linux/filter.h`: load a word, jump if equal, return.
const LOAD_WORD: u16 = 0x20;
const JUMP_IF_EQUAL: u16 = 0x15;
const RETURN: u16 = 0x06;
/// `SKF_NET_OFF`, from where the IPv4 source address is 12 bytes on.
const SOURCE_ADDRESS: u32 = 0xfff0_0000 + 12;
const DROP: u32 = 0;
const ACCEPT: u32 = u32::MAX;

/// Makes `listener` deaf to the clients that `toxics` name, and hear all others.
///
/// # Errors
/// The kernel does not take the filter.
pub fn enforce(listener: &impl AsFd, toxics: &[Toxic]) -> io::Result<()> {
    let blocked: Vec<Option<Ipv4Addr>> = toxics
        .iter()
        .filter(|toxic| matches!(toxic.effect, Effect::Unreachable {}))
        .map(|toxic| match toxic.from {
            Some(IpAddr::V4(client)) => Some(client),
            _ => None,
        })
        .collect();
    let socket = SockRef::from(listener);
    if blocked.is_empty() {
        return match socket.detach_filter() {
            // There was none.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            detached => detached,
        };
    }
    socket.attach_filter(&program(&blocked))
}

/// `None` blocks everybody.
fn program(blocked: &[Option<Ipv4Addr>]) -> Vec<SockFilter> {
    if blocked.contains(&None) {
        return vec![SockFilter::new(RETURN, 0, 0, DROP)];
    }
    let mut program = vec![SockFilter::new(LOAD_WORD, 0, 0, SOURCE_ADDRESS)];
    for client in blocked.iter().flatten() {
        program.push(SockFilter::new(JUMP_IF_EQUAL, 0, 1, client.to_bits()));
        program.push(SockFilter::new(RETURN, 0, 0, DROP));
    }
    program.push(SockFilter::new(RETURN, 0, 0, ACCEPT));
    program
}
