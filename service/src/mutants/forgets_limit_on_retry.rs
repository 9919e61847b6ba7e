use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Mutant, reworded};
use crate::parts::Parts;
use crate::sale::buy::Purchase;
use crate::sale::order::OrderId;
use crate::stock::scripts::RESERVE;

pub const MUTANT: Mutant = Mutant {
    name: "forgets-limit-on-retry",
    breaks: "A request that is tried again gets a fresh order id, and the limit is not looked at.",
    kind: "K28",
    control: "BZ-8",
    part: "reserve.lua",
    parts: &ForgetsLimitOnRetry,
};

struct ForgetsLimitOnRetry;

impl Parts for ForgetsLimitOnRetry {
    fn script(&self, text: &'static str) -> Cow<'static, str> {
        reworded(text, RESERVE, "if held_of[user] > 0 or (", "if (")
    }

    fn order_id(&self, purchase: &Purchase<'_>, _derived: OrderId) -> OrderId {
        static TRIES: AtomicU64 = AtomicU64::new(0);
        let Purchase {
            sale, sku, user, ..
        } = purchase;
        let request = TRIES.fetch_add(1, Ordering::Relaxed).to_string();
        OrderId::derive(sale, sku, user, &request)
    }
}
