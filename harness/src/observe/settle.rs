//! Waits for rest: the stores agree, if they are to, the queue is empty, and it stays so.

use std::time::{Duration, Instant};

use super::StoreReader;
use super::agreement::differences;
use super::reader::add_backlog;
use crate::drill::plan::Plan;
use crate::history::final_state::StoreState;

/// How long to wait for rest and what counts as rest.
#[derive(Debug, Clone)]
pub struct SettleOptions {
    /// The later of (load ended, last fault healed): convergence is measured from here.
    pub since: Instant,
    /// From `since`; stores that have not begun to agree by then never did.
    pub give_up_after: Duration,
    /// From `since`; rest must be seen up to here at least. Longer than anything that may come back by
    /// itself, such as a half message that the broker checks back.
    pub horizon: Duration,
    pub poll: Duration,
    /// Equal readings in a row that make rest.
    pub readings: u32,
}

impl SettleOptions {
    /// Polls every 250 ms, three equal readings.
    pub fn new(since: Instant, give_up_after: Duration, horizon: Duration) -> Self {
        let poll = Duration::from_millis(250);
        Self {
            since,
            give_up_after,
            horizon,
            poll,
            readings: 3,
        }
    }
}

/// The stores at rest, or when we gave up.
#[derive(Debug, Clone)]
pub struct Settled {
    pub end: StoreState,
    /// From `since` to the first of the equal readings that agree; None: there were none.
    pub converged_ms: Option<u64>,
    /// Readings taken.
    pub readings: u32,
}

impl Settled {
    /// At rest, disturbed, and at rest again: the end is the later one, the time the longer one.
    pub fn followed_by(self, later: Self) -> Self {
        let both = self.converged_ms.zip(later.converged_ms);
        Self {
            converged_ms: both.map(|(one, other)| one.max(other)),
            readings: self.readings + later.readings,
            end: later.end,
        }
    }
}

/// Equal readings so far, each of a store that may be at rest.
struct Streak {
    began: Instant,
    state: StoreState,
    length: u32,
}

/// Polls until the stores are at rest or the time is over. `backlog` counts messages committed and not
/// consumed; it is only asked when the stores may be at rest, since that may be slow.
pub async fn settle<B, F>(
    reader: &mut StoreReader,
    plan: &Plan,
    backlog: &B,
    options: &SettleOptions,
) -> Settled
where
    B: Fn() -> F,
    F: Future<Output = Result<u64, String>>,
{
    let give_up = options.since + options.give_up_after;
    let mut streak: Option<Streak> = None;
    let mut readings = 0;
    loop {
        let at = Instant::now();
        let mut state = reader.read().await;
        readings += 1;
        let agrees = state.unread.is_empty() && differences(plan, &state).is_empty();
        let may_rest = agrees || (state.unread.is_empty() && !plan.expect.stores_agree());
        if may_rest {
            add_backlog(&mut state, backlog().await);
        }
        streak = prolong(streak, at, &state, may_rest);
        let in_time = streak.as_ref().is_some_and(|one| one.began <= give_up);
        if let Some(rest) = streak
            .as_ref()
            .filter(|one| in_time && one.is_rest(options))
        {
            let converged_ms = agrees.then(|| since_ms(options.since, rest.began));
            return Settled {
                end: state,
                converged_ms,
                readings,
            };
        }
        if !in_time && at > give_up {
            if !may_rest {
                add_backlog(&mut state, backlog().await);
            }
            return Settled {
                end: state,
                converged_ms: None,
                readings,
            };
        }
        tokio::time::sleep(options.poll).await;
    }
}

/// The streak after one more reading.
fn prolong(
    streak: Option<Streak>,
    at: Instant,
    state: &StoreState,
    may_rest: bool,
) -> Option<Streak> {
    if !may_rest || state.queue_backlog != Some(0) {
        return None;
    }
    match streak {
        Some(one) if same_stores(&one.state, state) => Some(Streak {
            length: one.length + 1,
            ..one
        }),
        _ => Some(Streak {
            began: at,
            state: state.clone(),
            length: 1,
        }),
    }
}

impl Streak {
    fn is_rest(&self, options: &SettleOptions) -> bool {
        self.length >= options.readings && options.since.elapsed() >= options.horizon
    }
}

/// Counters may go on moving at rest.
fn same_stores(a: &StoreState, b: &StoreState) -> bool {
    a.orders == b.orders && a.stock == b.stock && a.cache == b.cache
}

fn since_ms(since: Instant, at: Instant) -> u64 {
    u64::try_from(at.saturating_duration_since(since).as_millis()).unwrap_or(u64::MAX)
}
