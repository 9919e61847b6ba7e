//! The kernel's table of TCP sockets (proc(5), `/proc/net/tcp` and `tcp6`), and whose they are.

use std::collections::HashSet;
use std::fs;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use super::procfs;

/// A TCP socket of this network namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Socket {
    pub local: SocketAddr,
    /// Unspecified while it listens.
    pub remote: SocketAddr,
    pub is_listening: bool,
    /// By this number it is found among a process's open files; 0 when no process has it any more.
    pub inode: u64,
}

/// All of them; empty where there is no such table.
pub(crate) fn sockets() -> Vec<Socket> {
    let table = |path| fs::read_to_string(path).unwrap_or_default();
    let tables = [table("/proc/net/tcp"), table("/proc/net/tcp6")];
    let lines = tables.iter().flat_map(|table| table.lines().skip(1));
    lines.filter_map(parse).collect()
}

/// `sl local remote state queues timer retransmits uid timeout inode ...`
fn parse(line: &str) -> Option<Socket> {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    Some(Socket {
        local: address(fields.get(1)?)?,
        remote: address(fields.get(2)?)?,
        is_listening: *fields.get(3)? == "0A",
        inode: fields.get(9)?.parse().ok()?,
    })
}

/// `0100007F:1F90`: words of four bytes as this machine keeps them in memory, then the port.
fn address(text: &str) -> Option<SocketAddr> {
    let (ip, port) = text.split_once(':')?;
    let mut bytes = [0; 16];
    let length = ip.len() / 2;
    for (at, word) in bytes.get_mut(..length)?.chunks_exact_mut(4).enumerate() {
        let hex = ip.get(at * 8..at * 8 + 8)?;
        word.copy_from_slice(&u32::from_str_radix(hex, 16).ok()?.to_ne_bytes());
    }
    let ip = match length {
        4 => IpAddr::from([bytes[0], bytes[1], bytes[2], bytes[3]]),
        // A socket for both families shows IPv4 peers as `::ffff:a.b.c.d`.
        _ => Ipv6Addr::from(bytes).to_canonical(),
    };
    Some(SocketAddr::new(ip, u16::from_str_radix(port, 16).ok()?))
}

/// Numbers of the sockets that a process has open; none when it is gone or another user's.
pub(crate) fn inodes_of(pid: u32) -> HashSet<u64> {
    let files = fs::read_dir(format!("/proc/{pid}/fd"));
    let targets = files.into_iter().flatten().flatten();
    let targets = targets.filter_map(|file| fs::read_link(file.path()).ok());
    targets
        .filter_map(|target| {
            let text = target.to_str()?.strip_prefix("socket:[")?;
            text.strip_suffix(']')?.parse().ok()
        })
        .collect()
}

/// Numbers of the sockets that the processes of a group have open.
pub(crate) fn inodes_of_group(group: u32) -> HashSet<u64> {
    let members = procfs::pids().filter(|pid| procfs::group_of(*pid) == Some(group));
    members.flat_map(inodes_of).collect()
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn finds_our_own_sockets_in_the_table() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let client = TcpStream::connect(address).unwrap();
        let local = client.local_addr().unwrap();
        let all = sockets();
        let ours = inodes_of(std::process::id());
        let listening = all
            .iter()
            .find(|one| one.is_listening && one.local == address);
        assert!(ours.contains(&listening.unwrap().inode));
        let dialled = all
            .iter()
            .find(|one| one.local == local && one.remote == address);
        assert!(ours.contains(&dialled.unwrap().inode));
        assert!(!dialled.unwrap().is_listening);
    }

    #[test]
    fn reads_both_families() {
        let cases = [
            ("0100007F:1F90", Some("127.0.0.1:8080")),
            (
                "0000000000000000FFFF00000100007F:0050",
                Some("127.0.0.1:80"),
            ),
            ("00000000000000000000000001000000:0050", Some("[::1]:80")),
            ("0100007F", None),
        ];
        for (text, expected) in cases {
            let expected = expected.map(|text| text.parse().unwrap());
            assert_eq!(address(text), expected, "{text}");
        }
    }
}
