//! Connections of the service past the fault proxy: what a fault on a link cannot reach was not tested.
//!
//! Seen from the service's own sockets, so that it holds for every target and every proxy.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use super::server::Server;
use super::sockets::{inodes_of_group, sockets};

/// Every connection of `service` to one of `servers` (real address to name), in words, each server once.
pub(super) fn bypasses(service: &Server, servers: &BTreeMap<SocketAddr, String>) -> Vec<String> {
    let mut direct = sockets();
    direct.retain(|socket| !socket.is_listening && servers.contains_key(&socket.remote));
    let Some(pid) = service.pid().filter(|_| !direct.is_empty()) else {
        return Vec::new();
    };
    let own = inodes_of_group(pid);
    direct.retain(|socket| own.contains(&socket.inode));
    let mut remotes: Vec<_> = direct.iter().map(|socket| socket.remote).collect();
    remotes.sort_unstable();
    remotes.dedup();
    let told = |remote| {
        format!(
            "{} is connected to {} at its real address {remote}",
            service.component(),
            servers[remote]
        )
    };
    remotes.iter().map(told).collect()
}
