//! Connections of the service past the fault proxy: what a fault on a link cannot reach was not tested.
//!
//! Seen from the service's own sockets, so that it holds for every target and every proxy. The kernel's table of sockets
//! is long while a load runs, and reading it holds the network up: it is read only when the service has a socket that
//! was not looked at yet. For a socket that was not there at the look before, which mostly somebody like this program has
//! opened to ask once, that is at every tenth look, so that a service that dials its servers for each order is seen too.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::net::SocketAddr;
use std::sync::Arc;

use super::server::Server;
use super::sockets::{Socket, inodes_of_group, sockets};

/// Looks from one that reads the table for sockets that have just been opened to the next.
const CHANCE_EVERY: u32 = 10;

/// What is known of a socket that a service has open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sight {
    /// Open since the last look.
    New,
    /// Not in the table when it was first looked for: no TCP socket, or one that was not connected yet.
    Unlisted,
    Harmless,
    Direct(SocketAddr),
}

/// Keeps an eye on the services' sockets.
#[derive(Debug, Default)]
pub(super) struct BypassWatch {
    seen: HashMap<u64, Sight>,
    looks: u32,
}

impl BypassWatch {
    /// Every connection of `services` to one of `servers` (real address to name), in words, each server once.
    pub fn look(
        &mut self,
        services: &[Arc<Server>],
        servers: &BTreeMap<SocketAddr, String>,
    ) -> Vec<String> {
        let own: Vec<HashSet<u64>> = services
            .iter()
            .map(|service| service.pid().map(inodes_of_group).unwrap_or_default())
            .collect();
        self.seen
            .retain(|inode, _| own.iter().any(|own| own.contains(inode)));
        if self.must_learn(own.iter().flatten()) {
            self.learn(own.iter().flatten(), &sockets(), servers);
        }
        for inode in own.iter().flatten() {
            self.seen.entry(*inode).or_insert(Sight::New);
        }
        let told = |(service, own): (&Arc<Server>, &HashSet<u64>)| {
            let name = service.component().to_owned();
            self.direct(own).into_iter().map(move |remote| {
                let server = &servers[&remote];
                format!("{name} is connected to {server} at its real address {remote}")
            })
        };
        services.iter().zip(&own).flat_map(told).collect()
    }

    fn must_learn<'i>(&mut self, mut own: impl Iterator<Item = &'i u64>) -> bool {
        let takes_all = self.looks.is_multiple_of(CHANCE_EVERY);
        self.looks += 1;
        own.any(|inode| match self.seen.get(inode) {
            None => takes_all,
            Some(Sight::New | Sight::Unlisted) => true,
            Some(Sight::Harmless | Sight::Direct(_)) => false,
        })
    }

    fn learn<'i>(
        &mut self,
        own: impl Iterator<Item = &'i u64>,
        table: &[Socket],
        servers: &BTreeMap<SocketAddr, String>,
    ) {
        let table: HashMap<u64, &Socket> = table.iter().map(|one| (one.inode, one)).collect();
        for inode in own {
            let sight = match (table.get(inode), self.seen.get(inode)) {
                (Some(socket), _) if is_direct(socket, servers) => Sight::Direct(socket.remote),
                (Some(_), _) | (None, Some(Sight::Unlisted)) => Sight::Harmless,
                (None, None | Some(Sight::New)) => Sight::Unlisted,
                (None, Some(known)) => *known,
            };
            self.seen.insert(*inode, sight);
        }
    }

    fn direct(&self, own: &HashSet<u64>) -> BTreeSet<SocketAddr> {
        let sights = own.iter().filter_map(|inode| self.seen.get(inode));
        sights
            .filter_map(|sight| match sight {
                Sight::Direct(remote) => Some(*remote),
                Sight::New | Sight::Unlisted | Sight::Harmless => None,
            })
            .collect()
    }
}

fn is_direct(socket: &Socket, servers: &BTreeMap<SocketAddr, String>) -> bool {
    !socket.is_listening && servers.contains_key(&socket.remote)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn socket(inode: u64, remote: &str) -> Socket {
        Socket {
            local: "127.0.0.1:1".parse().unwrap(),
            remote: remote.parse().unwrap(),
            is_listening: false,
            inode,
        }
    }

    #[test]
    fn a_socket_that_is_connected_late_is_seen_and_others_are_looked_at_once() {
        let servers = [("127.0.0.1:3306".parse().unwrap(), "mysql".to_owned())].into();
        let mut watch = BypassWatch::default();
        let table = [socket(1, "127.0.0.1:3306"), socket(2, "127.0.0.1:9")];
        watch.learn([1, 2, 3, 4].iter(), &table, &servers);
        let direct = Sight::Direct(table[0].remote);
        let of = |watch: &BypassWatch, inode| watch.seen[&inode];
        assert_eq!((of(&watch, 1), of(&watch, 2)), (direct, Sight::Harmless));
        assert_eq!(
            (of(&watch, 3), of(&watch, 4)),
            (Sight::Unlisted, Sight::Unlisted)
        );
        watch.learn([3, 4].iter(), &[socket(3, "127.0.0.1:3306")], &servers);
        assert_eq!((of(&watch, 3), of(&watch, 4)), (direct, Sight::Harmless));
        assert_eq!(
            watch.direct(&[1, 2, 3, 4].into()).len(),
            1,
            "each server once"
        );
    }

    #[test]
    fn the_table_is_read_for_what_stays_and_now_and_then_for_what_is_new() {
        let mut watch = BypassWatch::default();
        assert!(watch.must_learn([1].iter()), "the first look");
        watch.seen = [(1, Sight::Harmless), (2, Sight::New), (3, Sight::Unlisted)].into();
        for (inode, expected) in [(1, false), (2, true), (3, true)] {
            assert_eq!(watch.must_learn([inode].iter()), expected, "{inode}");
        }
        let read: Vec<bool> = (4..20).map(|_| watch.must_learn([4].iter())).collect();
        let chances = read.iter().filter(|read| **read).count();
        assert_eq!(
            (chances, read[6]),
            (1, true),
            "the look with number 10: {read:?}"
        );
    }
}
