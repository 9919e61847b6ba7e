//! The cut points of one link and their counts over all its connections, and what it rewrites.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::point::{Action, Cut, CutView, Protocol};
use super::remoting::Rewrites;

/// When a cut decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moment {
    /// A request has come.
    Request,
    /// A reply of success begins.
    Reply,
}

impl Action {
    fn moment(self, at: &str) -> Moment {
        match self {
            Self::LoseReply { .. } => Moment::Reply,
            // What was pulled can be pulled again once the answer had messages.
            Self::Twice if at.eq_ignore_ascii_case("PULL_MESSAGE") => Moment::Reply,
            Self::Close | Self::Drop | Self::Delay { .. } | Self::Twice => Moment::Request,
        }
    }
}

/// Which cut was chosen. Told again when it has been carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CutId(u64);

#[derive(Debug)]
struct Entry {
    id: CutId,
    cut: Cut,
    seen: u64,
    /// How often it was chosen, which is at times more than it could be carried out.
    chosen: u64,
    fired: u64,
    lease: Option<String>,
}

impl Entry {
    fn is_at(&self, moment: Moment, word: &[u8], key: &[u8]) -> bool {
        self.cut.action.moment(&self.cut.at) == moment
            && word.eq_ignore_ascii_case(self.cut.at.as_bytes())
            && self
                .cut
                .key
                .as_ref()
                .is_none_or(|own| own.as_bytes() == key)
    }
}

#[derive(Debug, Default)]
pub struct Cuts {
    protocol: Mutex<Option<Protocol>>,
    entries: Mutex<Vec<Entry>>,
    has_any: AtomicBool,
    next: AtomicU64,
    /// Clients of connections that hang.
    hung: Mutex<Vec<SocketAddr>>,
    /// Connections whose parser still understands them.
    pub(super) followed: AtomicU64,
    /// As long as the link lives: where it leads, not what is broken.
    pub(super) rewrites: Rewrites,
}

impl Cuts {
    /// Those of a link that rewrites addresses, if any, from its first connection on.
    pub fn rewriting(rewrites: Rewrites) -> Self {
        let protocol = (!rewrites.is_empty()).then_some(Protocol::Remoting);
        Self {
            protocol: Mutex::new(protocol),
            rewrites,
            ..Self::default()
        }
    }

    pub fn rewrites(&self) -> &Rewrites {
        &self.rewrites
    }

    /// What connections that open from now on are parsed as.
    pub fn protocol(&self) -> Option<Protocol> {
        *lock(&self.protocol)
    }

    pub fn set_protocol(&self, protocol: Option<Protocol>) {
        *lock(&self.protocol) = protocol;
    }

    /// `None` when there is one of that name.
    pub fn add(&self, cut: &Cut, lease: Option<String>) -> Option<CutView> {
        let cut = cut.clone().named();
        let mut entries = lock(&self.entries);
        if entries.iter().any(|entry| entry.cut.name == cut.name) {
            return None;
        }
        let entry = Entry {
            id: CutId(self.next.fetch_add(1, Ordering::Relaxed)),
            cut,
            seen: 0,
            chosen: 0,
            fired: 0,
            lease,
        };
        let view = self.view(&entry);
        entries.push(entry);
        self.has_any.store(true, Ordering::Release);
        Some(view)
    }

    pub fn list(&self) -> Vec<CutView> {
        let entries = lock(&self.entries);
        entries.iter().map(|entry| self.view(entry)).collect()
    }

    /// The clients whose connections hang at one of the removed cuts, or at one that was removed before.
    pub fn remove(&self, which: impl Fn(&CutView) -> bool) -> Vec<SocketAddr> {
        let mut entries = lock(&self.entries);
        let had = entries.len();
        entries.retain(|entry| !which(&self.view(entry)));
        self.has_any.store(!entries.is_empty(), Ordering::Release);
        let can_hang = entries.iter().any(|entry| entry.cut.can_hang());
        if entries.len() == had || can_hang {
            return Vec::new();
        }
        std::mem::take(&mut lock(&self.hung))
    }

    /// The connection of this client hangs at a cut.
    pub fn hangs(&self, client: SocketAddr) {
        lock(&self.hung).push(client);
    }

    pub(super) fn has_any(&self) -> bool {
        self.has_any.load(Ordering::Acquire)
    }

    /// Whether a frame may have to be changed.
    pub(super) fn concern_frames(&self) -> bool {
        self.has_any() || !self.rewrites.is_empty()
    }

    /// Counts the command at every cut that it concerns; the first whose turn it is acts.
    pub(super) fn choose(
        &self,
        moment: Moment,
        word: &[u8],
        key: &[u8],
    ) -> Option<(CutId, Action)> {
        if !self.has_any() {
            return None;
        }
        let mut chosen = None;
        let mut entries = lock(&self.entries);
        for entry in entries
            .iter_mut()
            .filter(|entry| entry.is_at(moment, word, key))
        {
            entry.seen += 1;
            let is_its_turn = entry.seen >= entry.cut.nth && entry.chosen < entry.cut.times;
            if is_its_turn && chosen.is_none() {
                entry.chosen += 1;
                chosen = Some((entry.id, entry.cut.action));
            }
        }
        chosen
    }

    /// Whether the reply to this request will have to be looked at.
    pub(super) fn awaits_reply(&self, word: &[u8], key: &[u8]) -> bool {
        self.has_any()
            && lock(&self.entries)
                .iter()
                .any(|entry| entry.is_at(Moment::Reply, word, key))
    }

    pub(super) fn fired(&self, id: CutId) {
        if let Some(entry) = lock(&self.entries).iter_mut().find(|entry| entry.id == id) {
            entry.fired += 1;
        }
    }

    fn view(&self, entry: &Entry) -> CutView {
        CutView {
            cut: entry.cut.clone(),
            seen: entry.seen,
            fired: entry.fired,
            lease: entry.lease.clone(),
            connections_followed: self.followed.load(Ordering::Relaxed),
        }
    }
}

/// A panic of another task must not make the proxy unusable; the list stays consistent.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::super::point::Then;
    use super::*;

    #[test]
    fn the_nth_and_those_behind_it_are_chosen_in_order_of_arrival() {
        let cuts = Cuts::default();
        let cut = Cut {
            nth: 3,
            times: 2,
            key: Some("sku".into()),
            ..Cut::next(Protocol::Resp, "EVALSHA", Action::Close)
        };
        assert!(cuts.add(&cut, None).is_some());
        assert!(cuts.add(&cut, None).is_none(), "the name is taken");
        let mut chosen = Vec::new();
        for _ in 0..5 {
            assert_eq!(cuts.choose(Moment::Request, b"EVALSHA", b"other"), None);
            assert_eq!(cuts.choose(Moment::Reply, b"EVALSHA", b"sku"), None);
            chosen.push(cuts.choose(Moment::Request, b"evalsha", b"sku").is_some());
        }
        assert_eq!(chosen, [false, false, true, true, false]);
        let view = cuts.list().remove(0);
        assert_eq!((view.seen, view.fired), (5, 0));
        cuts.remove(|_| true);
        assert!(!cuts.has_any());
    }

    #[test]
    fn the_first_of_two_whose_turn_it_is_acts_and_both_have_seen_it() {
        let cuts = Cuts::default();
        let lost = Action::LoseReply { then: Then::Hang };
        for name in ["a", "b"] {
            let cut = Cut {
                name: name.into(),
                ..Cut::next(Protocol::Mysql, "COMMIT", lost)
            };
            cuts.add(&cut, None).unwrap();
        }
        assert!(cuts.awaits_reply(b"COMMIT", b""));
        let (id, _) = cuts.choose(Moment::Reply, b"COMMIT", b"").unwrap();
        cuts.fired(id);
        let figures: Vec<_> = cuts
            .list()
            .iter()
            .map(|cut| (cut.seen, cut.fired))
            .collect();
        assert_eq!(figures, [(1, 1), (1, 0)]);
    }
}
