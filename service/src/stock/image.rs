//! What Redis should hold of one SKU, and the comparison with what it does hold.

use std::collections::BTreeMap;

use crate::sale::sku::Rules;

/// State of an order in an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageState {
    /// Holds units until its deadline.
    Reserved,
    /// Holds units for good.
    Paid,
    /// Holds nothing any more, or never did.
    Released,
}

impl ImageState {
    /// The word `rebuild.lua` takes.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Reserved => "reserved",
            Self::Paid => "paid",
            Self::Released => "released",
        }
    }

    /// The word the ledger then holds.
    fn ledger_word(self) -> &'static str {
        match self {
            Self::Reserved | Self::Paid => "reserved",
            Self::Released => "released",
        }
    }
}

/// One order of an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageOrder {
    pub order_id: String,
    pub user: String,
    pub quantity: u32,
    pub state: ImageState,
    /// Unix time; only meaningful while reserved.
    pub deadline_ms: u64,
}

/// One SKU as MySQL has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    pub available: i64,
    pub rules: Rules,
    pub orders: Vec<ImageOrder>,
}

/// One SKU as Redis has it: what a comparison needs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Contents {
    /// `None`: the field is missing.
    pub available: Option<i64>,
    pub limit: Option<u32>,
    /// user -> units held
    pub held: BTreeMap<String, i64>,
    /// order id -> entry, `state|user|quantity|deadline_ms|request id`
    pub ledger: BTreeMap<String, String>,
}

/// An entry of the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerEntry {
    pub state: String,
    pub user: String,
    pub quantity: u32,
    pub request_id: String,
}

impl LedgerEntry {
    /// It holds units.
    #[must_use]
    pub fn is_reserved(&self) -> bool {
        self.state == "reserved"
    }

    /// It never held any and never will.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        self.state == "refused"
    }

    #[must_use]
    pub fn parse(entry: &str) -> Option<Self> {
        let mut parts = entry.splitn(5, '|');
        let (state, user, quantity) = (parts.next()?, parts.next()?, parts.next()?);
        let _deadline_ms = parts.next()?;
        Some(Self {
            state: state.to_owned(),
            user: user.to_owned(),
            quantity: quantity.parse().ok()?,
            request_id: parts.next().unwrap_or_default().to_owned(),
        })
    }
}

/// A difference between the stores that forbids opening.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}: Redis has {redis}, MySQL says {mysql}")]
pub struct Mismatch {
    pub what: String,
    pub redis: String,
    pub mysql: String,
}

/// Differences listed at most; more say nothing new.
const MISMATCHES_MAX: usize = 10;

/// Compares every number and every ledger entry. Empty: they agree.
#[must_use]
pub fn compare(image: &Image, contents: &Contents) -> Vec<Mismatch> {
    let mut found = Vec::new();
    let mut differ = |what: String, redis: String, mysql: String| {
        if redis != mysql && found.len() < MISMATCHES_MAX {
            found.push(Mismatch { what, redis, mysql });
        }
    };
    differ(
        "available".into(),
        text(contents.available),
        image.available.to_string(),
    );
    differ(
        "limit".into(),
        text(contents.limit),
        image.rules.limit_per_user.to_string(),
    );

    let mut held = BTreeMap::<&str, i64>::new();
    for order in image
        .orders
        .iter()
        .filter(|order| order.state != ImageState::Released)
    {
        *held.entry(&order.user).or_default() += i64::from(order.quantity);
    }
    for (user, units) in &held {
        differ(
            format!("units held by user {user}"),
            text(contents.held.get(*user)),
            units.to_string(),
        );
    }
    for (user, units) in contents
        .held
        .iter()
        .filter(|(user, _)| !held.contains_key(user.as_str()))
    {
        differ(
            format!("units held by user {user}"),
            units.to_string(),
            "nothing".into(),
        );
    }
    for order in &image.orders {
        let entry = contents
            .ledger
            .get(&order.order_id)
            .and_then(|entry| entry.split('|').next());
        differ(
            format!("ledger of order {}", order.order_id),
            text(entry),
            order.state.ledger_word().into(),
        );
    }
    let (redis, mysql) = (contents.ledger.len(), image.orders.len());
    differ(
        "ledger entries".into(),
        redis.to_string(),
        mysql.to_string(),
    );
    found
}

fn text(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "nothing".into(), |value| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image() -> Image {
        let order = |id: &str, user: &str, state| ImageOrder {
            order_id: id.into(),
            user: user.into(),
            quantity: 2,
            state,
            deadline_ms: 9,
        };
        Image {
            available: 5,
            rules: Rules {
                limit_per_user: 4,
                ..Rules::default()
            },
            orders: vec![
                order("a", "u1", ImageState::Reserved),
                order("b", "u1", ImageState::Paid),
                order("c", "u2", ImageState::Released),
            ],
        }
    }

    fn contents() -> Contents {
        Contents {
            available: Some(5),
            limit: Some(4),
            held: [("u1".into(), 4)].into(),
            ledger: [
                ("a".into(), "reserved|u1|2|9|".into()),
                ("b".into(), "reserved|u1|2|9|".into()),
                ("c".into(), "released|u2|2|9|".into()),
            ]
            .into(),
        }
    }

    #[test]
    fn equal_stores_agree() {
        assert_eq!(compare(&image(), &contents()), []);
    }

    #[test]
    fn every_kind_of_difference_is_found_and_named() {
        type Damage = fn(&mut Contents);
        fn hold(contents: &mut Contents, user: &str, units: i64) {
            contents.held.insert(user.into(), units);
        }
        fn write(contents: &mut Contents, id: &str, entry: &str) {
            contents.ledger.insert(id.into(), entry.into());
        }
        let cases: [(&str, Damage); 8] = [
            ("available", |c| c.available = Some(6)),
            ("available", |c| c.available = None),
            ("limit", |c| c.limit = Some(5)),
            ("units held by user u1", |c| hold(c, "u1", 2)),
            ("units held by user u9", |c| hold(c, "u9", 1)),
            ("ledger of order c", |c| write(c, "c", "reserved|u2|2|9|")),
            ("ledger of order a", |c| c.ledger.retain(|id, _| id != "a")),
            ("ledger entries", |c| write(c, "d", "reserved|u3|2|9|")),
        ];
        for (what, damage) in cases {
            let mut damaged = contents();
            damage(&mut damaged);
            let found = compare(&image(), &damaged);
            assert!(
                found.iter().any(|mismatch| mismatch.what == what),
                "{what}: {found:?}"
            );
        }
    }

    #[test]
    fn a_ledger_entry_is_read_with_or_without_its_request_id() {
        let entry = LedgerEntry::parse("reserved|u1|2|99|r|7").unwrap();
        assert_eq!(
            (
                entry.state.as_str(),
                entry.quantity,
                entry.request_id.as_str()
            ),
            ("reserved", 2, "r|7")
        );
        assert_eq!(LedgerEntry::parse("refused||0|0|").unwrap().request_id, "");
        assert_eq!(LedgerEntry::parse("reserved|u1"), None);
    }
}
