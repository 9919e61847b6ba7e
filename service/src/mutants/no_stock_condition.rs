use std::borrow::Cow;

use super::{Mutant, reworded};
use crate::parts::Parts;
use crate::store::DECREMENT_STOCK;

pub const MUTANT: Mutant = Mutant {
    name: "no-stock-condition",
    breaks: "The consumer decrements the stock in MySQL without looking whether there is any.",
    kind: "K02",
    control: "DB-1",
    part: "SQL",
    parts: &NoStockCondition,
};

struct NoStockCondition;

impl Parts for NoStockCondition {
    fn statement(&self, text: &'static str) -> Cow<'static, str> {
        reworded(
            text,
            DECREMENT_STOCK,
            "available >= ?",
            "(available >= ? OR TRUE)",
        )
    }
}
