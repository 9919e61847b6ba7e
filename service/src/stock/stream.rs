//! A SKU's stream: what the reserve script appends with each grant, in the same slot and so in the same fate.

use std::collections::HashMap;
use std::time::Duration;

use super::{Stock, StockError, parse};
use crate::sale::order::OrderMessage;
use crate::sale::sku::Sku;

/// Messages of one call.
const TAKE_MAX: usize = 250;

/// Which messages a consumer asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Take {
    /// Nobody has taken them.
    New,
    /// Somebody took them so long ago, and has not finished.
    Idle(Duration),
}

/// One message of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamMessage {
    pub id: String,
    /// None: not what the reserve script writes.
    pub order: Option<OrderMessage>,
}

impl Stock {
    /// Some messages, the oldest first, from now on pending for `consumer`.
    ///
    /// # Errors
    /// No lane, or the call failed: some may be pending.
    pub async fn take(
        &self,
        sku: &Sku,
        consumer: &str,
        take: Take,
    ) -> Result<Vec<StreamMessage>, StockError> {
        let idle_ms = match take {
            Take::New => 0,
            Take::Idle(idle) => idle.as_millis(),
        };
        let scripts = &self.parts.scripts;
        let cmd = scripts.take(&sku.keys, consumer, TAKE_MAX, idle_ms);
        let answer = self.call(sku, &cmd).await?;
        let taken: Vec<(String, HashMap<String, String>)> = parse("take.lua", answer)?;
        let message = |(id, fields): (String, HashMap<String, String>)| StreamMessage {
            id,
            order: order(sku, fields),
        };
        Ok(taken.into_iter().map(message).collect())
    }

    /// MySQL has these messages: they do not come again.
    ///
    /// # Errors
    /// No lane, or the call failed: they may come again.
    pub async fn finish(&self, sku: &Sku, ids: &[String]) -> Result<(), StockError> {
        let cmd = self.parts.scripts.finish(&sku.keys, ids);
        self.call(sku, &cmd).await.map(drop)
    }

    /// Messages that are not finished.
    ///
    /// # Errors
    /// No lane, or the call failed.
    pub async fn unfinished(&self, sku: &Sku) -> Result<u64, StockError> {
        let mut cmd = redis::cmd("XLEN");
        cmd.arg(&sku.keys.stream);
        parse("XLEN", self.call(sku, &cmd).await?)
    }
}

fn order(sku: &Sku, mut fields: HashMap<String, String>) -> Option<OrderMessage> {
    let mut text = |name| fields.remove(name);
    Some(OrderMessage {
        order_id: text("order_id")?,
        sale: sku.sale.clone(),
        sku: sku.sku.clone(),
        user: text("user")?,
        quantity: text("quantity")?.parse().ok()?,
        request_id: text("request_id")?,
        at_ms: text("at_ms")?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sale::sku::{Gate, Rules};

    #[test]
    fn only_what_the_script_writes_is_an_order() {
        let sku = Sku::new("s", "k", Rules::default(), Gate::Open);
        let read = |fields: &[(&str, &str)]| {
            let owned = |(name, text): &(&str, &str)| ((*name).to_owned(), (*text).to_owned());
            order(&sku, fields.iter().map(owned).collect())
        };
        let whole = [
            ("order_id", "o"),
            ("user", "u"),
            ("quantity", "2"),
            ("request_id", "r"),
            ("at_ms", "5"),
        ];
        let found = read(&whole).unwrap();
        let seen = (found.user.as_str(), found.quantity, found.at_ms);
        assert_eq!(seen, ("u", 2, 5));
        assert_eq!(read(&whole[1..]), None);
        let mut torn = whole;
        torn[2].1 = "two";
        assert_eq!(read(&torn), None);
    }
}
