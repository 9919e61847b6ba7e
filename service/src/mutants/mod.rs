//! Deliberately broken parts, for `flashsale-mutants` only; a harness that stays green under one of them is itself broken.
//!
//! A mutant is one file, which says what it breaks and replaces one of the [`Parts`], and its name in the list below.

use std::borrow::Cow;
use std::fmt;
use std::sync::OnceLock;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use sqlx::{Executor, MySqlConnection, Result as SqlResult};

use crate::parts::{Instead, Parts, Real};

/// One deliberate defect.
#[derive(Clone, Copy)]
pub struct Mutant {
    /// As `--mutant` takes it.
    pub name: &'static str,
    /// What is broken, in one sentence.
    pub breaks: &'static str,
    /// Kind of the public cases that it stands for.
    pub kind: &'static str,
    /// The control whose absence it shows.
    pub control: &'static str,
    /// The part that it replaces.
    pub part: &'static str,
    pub parts: &'static dyn Parts,
}

/// The files of this folder.
macro_rules! mutants {
    ($($file:ident),+ $(,)?) => {
        $(mod $file;)+
        /// Every mutant there is.
        pub static ALL: &[Mutant] = &[$($file::MUTANT),+];
    };
}

mutants! {
    acks_before_work,
    announces_apart,
    asks_redis_every_time,
    cancel_keeps_units,
    check_back_always_commits,
    check_back_always_rolls_back,
    commit_offset_first,
    commits_after_lock_wait,
    decrements_every_delivery,
    dedupe_outside_transaction,
    discard_without_release,
    drops_poison,
    drops_stale,
    drops_tail,
    fire_and_forget,
    forgets_limit_on_retry,
    leaves_orphans,
    mark_before_work,
    no_release_on_db_reject,
    no_stock_condition,
    no_unique_order,
    one_unit_too_many,
    order_ids_collide,
    orders_without_decrement,
    pays_whatever_state,
    poison_blocks,
    read_then_decrement,
    relay_skips_failed,
    releases_twice,
    reopen_without_rebuild,
    repeats_alerts,
    retry_not_idempotent,
    rolls_back_silently,
    send_before_reserve,
    silent_alerts,
    takes_before_limit,
    top_up_mysql_only,
    trust_stale_replica,
    unbounded_accept,
    undeclared_keys,
    unknown_is_sold_out,
    version_not_checked,
    waits_for_dead_pulls,
    waits_for_replicas,
    wrong_shard,
}

static CHOSEN: OnceLock<Mutant> = OnceLock::new();

/// Makes this process a broken one, for good. A second choice changes nothing.
pub fn choose(mutant: Mutant) {
    tracing::warn!(?mutant, "running with a deliberate defect");
    CHOSEN.get_or_init(|| mutant);
}

/// The parts of this process: those of the chosen mutant, or the real ones.
#[must_use]
pub fn parts() -> &'static dyn Parts {
    CHOSEN.get().map_or(&Real, |mutant| mutant.parts)
}

/// `text`, with one place replaced if it is the one that a mutant words otherwise. A mutant whose place is gone would
/// be a normal service, so it must not start.
fn reworded(text: &'static str, which: &'static str, place: &str, with: &str) -> Cow<'static, str> {
    if text != which {
        return text.into();
    }
    let places = text.matches(place).count();
    assert_eq!(places, 1, "the mutant's place `{place}` must be there once");
    text.replacen(place, with, 1).into()
}

/// Ends the transaction of a batch in the middle of it, and goes on in another.
fn commit_halfway(connection: &mut MySqlConnection) -> Instead<'_, SqlResult<()>> {
    Some(Box::pin(async move {
        connection.execute("COMMIT AND CHAIN").await.map(drop)
    }))
}

impl ValueEnum for Mutant {
    fn value_variants<'a>() -> &'a [Self] {
        ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let Self {
            breaks,
            kind,
            control,
            part,
            ..
        } = self;
        let help = format!("{breaks} [{kind}, {control}; {part}]");
        Some(PossibleValue::new(self.name).help(help))
    }
}

impl fmt::Debug for Mutant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::stock::scripts::TEXTS;
    use crate::store::STATEMENTS;

    #[test]
    fn every_mutant_has_a_name_of_its_own_and_says_what_it_is() {
        let names: HashSet<&str> = ALL.iter().map(|mutant| mutant.name).collect();
        assert_eq!(names.len(), ALL.len());
        for mutant in ALL {
            let is_kebab = |byte: u8| byte.is_ascii_lowercase() || byte == b'-';
            assert!(mutant.name.bytes().all(is_kebab), "{mutant:?}");
            assert!(mutant.breaks.ends_with('.'), "{mutant:?}");
            assert!(mutant.kind.starts_with('K'), "{mutant:?}");
            assert!(mutant.control.contains('-'), "{mutant:?}");
        }
    }

    #[test]
    fn whoever_replaces_a_place_in_a_text_finds_it() {
        for mutant in ALL {
            let scripts = TEXTS
                .iter()
                .filter(|text| mutant.parts.script(text) != **text);
            let statements = STATEMENTS
                .iter()
                .filter(|text| mutant.parts.statement(text) != **text);
            let is_text = mutant.part.ends_with(".lua") || mutant.part.ends_with("SQL");
            assert_eq!(
                scripts.count() + statements.count() > 0,
                is_text,
                "{mutant:?}"
            );
        }
    }
}
