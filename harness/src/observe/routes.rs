//! Which Redis node owns which slot, from the `CLUSTER NODES` answers of all nodes that answer.
//!
//! A node's view may be old (a former primary that has just come back), so for each slot the claim with the
//! highest configuration epoch wins, whoever reports it; the owner is then found by its node id among the
//! nodes we reach directly, because the addresses in the views are those of proxies.

use std::collections::HashMap;
use std::net::SocketAddr;

/// A primary's claim to a range of slots.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Claim {
    from: u16,
    to: u16,
    epoch: u64,
    node: String,
}

/// Slot to node.
#[derive(Debug, Default)]
pub struct Routes {
    claims: Vec<Claim>,
    addresses: HashMap<String, SocketAddr>,
    /// Redis without cluster mode: everything is here.
    single: Option<SocketAddr>,
}

impl Routes {
    /// One Redis without cluster mode.
    pub fn single(address: SocketAddr) -> Self {
        Self {
            single: Some(address),
            ..Self::default()
        }
    }

    /// Adds the view of the node at `address`.
    pub fn add_view(&mut self, address: SocketAddr, cluster_nodes: &str) {
        for line in cluster_nodes.lines() {
            self.add_line(address, line);
        }
    }

    /// `id address flags primary ping pong epoch link slot slot ...`
    fn add_line(&mut self, address: SocketAddr, line: &str) {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [id, _, flags, _, _, _, epoch, _, slots @ ..] = fields.as_slice() else {
            return;
        };
        let has = |flag: &str| flags.split(',').any(|one| one == flag);
        if has("myself") {
            self.addresses.insert((*id).to_owned(), address);
        }
        let Ok(epoch) = epoch.parse() else { return };
        if has("master") {
            let ranges = slots.iter().filter_map(|text| range(text));
            self.claims.extend(ranges.map(|(from, to)| Claim {
                from,
                to,
                epoch,
                node: (*id).to_owned(),
            }));
        }
    }

    /// Where the primary of a slot answers.
    ///
    /// # Errors
    /// Nobody claims the slot, or the node that owns it does not answer.
    pub fn owner(&self, slot: u16) -> Result<SocketAddr, String> {
        if let Some(address) = self.single {
            return Ok(address);
        }
        let covering = self
            .claims
            .iter()
            .filter(|claim| (claim.from..=claim.to).contains(&slot));
        let Some(claim) = covering.max_by_key(|claim| claim.epoch) else {
            return Err(format!(
                "no Redis node that answers knows a primary of slot {slot}"
            ));
        };
        self.addresses.get(&claim.node).copied().ok_or_else(|| {
            format!(
                "the Redis primary of slot {slot}, node {}, does not answer",
                claim.node
            )
        })
    }
}

/// `5461-10922` or `7`; slots that are being moved (`[93-<-id]`) are told by their owner already.
fn range(text: &str) -> Option<(u16, u16)> {
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    Some((from.parse().ok()?, to.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(port: u16) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], port))
    }

    fn line(id: &str, flags: &str, epoch: u64, slots: &str) -> String {
        format!("{id} 127.0.0.1:9000@19000 {flags} - 0 0 {epoch} connected {slots}\n")
    }

    #[test]
    fn the_newest_claim_wins_over_a_former_primary_that_came_back() {
        let mut routes = Routes::default();
        let old_view = line("old", "myself,master", 1, "0-100") + &line("new", "slave", 1, "");
        let new_view =
            line("new", "myself,master", 5, "0-100 [7-<-old]") + &line("old", "slave", 5, "");
        routes.add_view(address(1), &old_view);
        assert_eq!(routes.owner(7), Ok(address(1)));
        routes.add_view(address(2), &new_view);
        assert_eq!(routes.owner(7), Ok(address(2)));
    }

    #[test]
    fn an_owner_that_does_not_answer_is_an_error_not_its_replica() {
        let mut routes = Routes::default();
        let view =
            line("replica", "myself,slave", 1, "") + &line("gone", "master,fail", 4, "0-5 9");
        routes.add_view(address(1), &view);
        assert_eq!(
            routes.owner(9),
            Err("the Redis primary of slot 9, node gone, does not answer".to_owned())
        );
        assert!(
            routes
                .owner(8)
                .unwrap_err()
                .contains("knows a primary of slot 8")
        );
    }
}
