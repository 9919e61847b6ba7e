//! How long a missing message is waited for.

use std::time::{Duration, Instant};

use crate::queue::Progress;

/// A message that has not come by then is taken for lost: check-back has come several times. Counted while the
/// queue is there and has delivered what it held at the beginning; what nobody has consumed yet is not lost.
pub const PATIENCE: Duration = Duration::from_secs(15);

/// Patience for whatever is on its way when it begins.
#[derive(Debug, Default)]
pub struct Patience {
    /// What was in the queue at the beginning.
    mark: Option<Progress>,
    /// When that had been applied.
    since: Option<Instant>,
}

impl Patience {
    /// Takes the queue's state at `now`, `None` while it is away; true when it has lasted long enough.
    pub fn is_over(&mut self, now: Instant, queue: Option<&Progress>) -> bool {
        let Some(queue) = queue else {
            *self = Self::default();
            return false;
        };
        let has_delivered = queue.has_applied(self.mark.get_or_insert_with(|| queue.clone()));
        has_delivered && now - *self.since.get_or_insert(now) >= PATIENCE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_while_the_queue_holds_it_or_is_away() {
        let queue = |filled, applied| Some(Progress::new([("q".to_owned(), filled, applied)]));
        let begun = Instant::now();
        let mut patience = Patience::default();
        let steps = [
            // waits so far, the queue, is it over
            (0, queue(5, 4), false),
            (2, queue(9, 4), false), // not consumed yet
            (2, queue(9, 5), false),
            (3, queue(9, 5), true),
            (3, None, false), // away: it begins anew
            (4, queue(9, 9), false),
            (5, queue(20, 9), true),
        ];
        for (waits, queue, expected) in steps {
            let now = begun + PATIENCE * waits;
            assert_eq!(patience.is_over(now, queue.as_ref()), expected, "{waits}");
        }
    }
}
