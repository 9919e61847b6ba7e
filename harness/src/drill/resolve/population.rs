//! Who buys, and how.

use crate::drill::file::PopulationSection;
use crate::drill::problems::Problems;
use crate::load::population::Population;

pub fn check(population: &PopulationSection, problems: &mut Problems) {
    let sum =
        population.pay_share.get() + population.cancel_share.get() + population.status_share.get();
    if sum > 1.0 {
        let message = format!("pay_share + cancel_share + status_share is {sum}; at most 1");
        problems.push("population", message);
    }
}

pub fn population(section: &PopulationSection) -> Population {
    Population {
        users: section.users.get().into(),
        quantity: section.quantity.get(),
        duplicate_share: section.duplicate_share.get(),
        pay_share: section.pay_share.get(),
        cancel_share: section.cancel_share.get(),
        status_share: section.status_share.get(),
        follow_up_after_ms: section.follow_up_after_ms.get().into(),
    }
}
