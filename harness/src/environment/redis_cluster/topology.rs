//! What a node says about itself in `CLUSTER NODES`.

use std::net::IpAddr;

/// A node's own line. Its own claim is the authority on its slots; when two claim one, the higher
/// epoch has won.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Myself {
    pub id: String,
    pub is_primary: bool,
    /// Id of the primary that a replica follows.
    pub primary_id: Option<String>,
    pub epoch: u64,
    /// Ranges, both ends included.
    pub slots: Vec<(u16, u16)>,
    pub announced: Announced,
}

/// Where a node wants to be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Announced {
    /// None until another node has told it.
    pub ip: Option<IpAddr>,
    pub port: u16,
    pub bus_port: u16,
}

impl Announced {
    /// `ip:port@bus`, on newer servers with `,hostname` and more.
    fn parse(text: &str) -> Option<Self> {
        let (address, rest) = text.split_once('@')?;
        let (ip, port) = address.rsplit_once(':')?;
        Some(Self {
            ip: ip.parse().ok(),
            port: port.parse().ok()?,
            bus_port: rest.split(',').next()?.parse().ok()?,
        })
    }
}

impl Myself {
    /// Line format: id, address, flags, primary, ping, pong, epoch, link state, slots.
    pub(super) fn parse(nodes: &str) -> Option<Self> {
        let line = nodes.lines().find(|line| line.contains("myself"))?;
        let fields: Vec<&str> = line.split_whitespace().collect();
        let primary = *fields.get(3)?;
        Some(Self {
            id: (*fields.first()?).to_owned(),
            is_primary: fields.get(2)?.split(',').any(|flag| flag == "master"),
            primary_id: (primary != "-").then(|| primary.to_owned()),
            epoch: fields.get(6)?.parse().ok()?,
            // Slots on the move are in square brackets.
            slots: fields[8.min(fields.len())..]
                .iter()
                .filter_map(|text| range(text))
                .collect(),
            announced: Announced::parse(fields.get(1)?)?,
        })
    }

    pub fn owns(&self, slot: u16) -> bool {
        self.is_primary
            && self
                .slots
                .iter()
                .any(|(low, high)| (*low..=*high).contains(&slot))
    }
}

fn range(text: &str) -> Option<(u16, u16)> {
    let (low, high) = text.split_once('-').unwrap_or((text, text));
    Some((low.parse().ok()?, high.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_primaries_replicas_and_moving_slots() {
        let primary = "aa 127.0.0.1:1@2 master - 0 0 2 connected 0-5\n\
                       bb 127.0.0.1:3@4,host myself,master - 0 0 7 connected 10-12 99 [93-<-aa]\n";
        let myself = Myself::parse(primary).unwrap();
        assert_eq!((myself.id.as_str(), myself.epoch), ("bb", 7));
        let announced = myself.announced;
        assert_eq!(announced.ip, Some([127, 0, 0, 1].into()));
        assert_eq!((announced.port, announced.bus_port), (3, 4));
        assert_eq!(myself.slots, [(10, 12), (99, 99)]);
        for (slot, owned) in [(9, false), (10, true), (12, true), (99, true), (93, false)] {
            assert_eq!(myself.owns(slot), owned, "{slot}");
        }
        let replica = Myself::parse("cc :0@0 myself,slave bb 0 0 7 connected\n").unwrap();
        assert_eq!(
            (replica.is_primary, replica.primary_id.as_deref()),
            (false, Some("bb"))
        );
        assert!(!replica.owns(10));
        assert_eq!(replica.announced.ip, None);
        assert_eq!(
            Myself::parse("aa 127.0.0.1:1@2 master - 0 0 2 connected 0-5"),
            None
        );
    }
}
