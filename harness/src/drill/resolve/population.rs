//! Who buys, and how.

use crate::drill::file::PopulationSection;
use crate::drill::problems::Problems;
use crate::load::address::BOT_ADDRESSES_MAX;
use crate::load::population::{Bots, Population, Retries};

/// The load ends when the last buyer has given up; nobody waits for longer than this.
const PATIENCE_MS_MAX: u64 = 600_000;

pub fn check(section: &PopulationSection, problems: &mut Problems) {
    check_shares(section, problems);
    let addresses = section.bot_addresses.get();
    if addresses > BOT_ADDRESSES_MAX {
        let message = format!("{addresses} is too many; at most {BOT_ADDRESSES_MAX}");
        problems.push("population.bot_addresses", message);
    }
    check_patience(section, problems);
}

fn check_shares(section: &PopulationSection, problems: &mut Problems) {
    let shares = [
        section.pay_share,
        section.cancel_share,
        section.race_share,
        section.status_share,
    ];
    let sum: f64 = shares.iter().map(|share| share.get()).sum();
    if sum > 1.0 {
        let message =
            format!("pay_share + cancel_share + race_share + status_share is {sum}; at most 1");
        problems.push("population", message);
    }
}

fn check_patience(section: &PopulationSection, problems: &mut Problems) {
    let polls_ms = u64::from(section.poll_every_ms.get()) * u64::from(section.poll_max.get());
    for (key, ms) in [("retry_max", retries_ms(section)), ("poll_max", polls_ms)] {
        if ms > PATIENCE_MS_MAX {
            let message = format!("a buyer would go on for {ms} ms; at most {PATIENCE_MS_MAX}");
            problems.push(format!("population.{key}"), message);
        }
    }
}

/// All waits of a buyer who retries to the end, on average.
fn retries_ms(section: &PopulationSection) -> u64 {
    let (first_ms, backoff) = (section.retry_after_ms.get(), section.retry_backoff.get());
    let (mut wait_ms, mut sum_ms) = (f64::from(first_ms), 0.0);
    for _ in 0..section.retry_max.get() {
        sum_ms += wait_ms;
        wait_ms *= backoff;
        if sum_ms > PATIENCE_MS_MAX as f64 {
            break;
        }
    }
    sum_ms as u64
}

pub fn population(section: &PopulationSection) -> Population {
    Population {
        users: section.users.get().into(),
        first_key: 0,
        first_user: 0,
        quantity: section.quantity.get(),
        sku_skew: section.sku_skew.get(),
        bots: Bots {
            share: section.bot_share.get(),
            users: section.bot_users.get().into(),
            addresses: section.bot_addresses.get(),
        },
        duplicate_share: section.duplicate_share.get(),
        retries: Retries {
            share: section.retry_share.get(),
            max: section.retry_max.get(),
            after_ms: section.retry_after_ms.get().into(),
            backoff: section.retry_backoff.get(),
        },
        pay_share: section.pay_share.get(),
        cancel_share: section.cancel_share.get(),
        race_share: section.race_share.get(),
        status_share: section.status_share.get(),
        follow_up_after_ms: section.follow_up_after_ms.get().into(),
        poll_max: section.poll_max.get(),
        poll_every_ms: section.poll_every_ms.get().into(),
    }
}
