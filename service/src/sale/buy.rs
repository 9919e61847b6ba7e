//! The way of a buy request: refused from memory where that is possible, else waiting room, and
//! the way that the sale has chosen.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Deserialize;
use tokio::runtime::Handle;

use super::catalogue::Catalogue;
use super::clock;
use super::order::{OrderId, OrderMessage, Reserved};
use super::sku::{Entered, Gate, Sku};
use super::waiting_room::{Seat, WaitingRoom};
use crate::gateway::reason::Reason;
use crate::parts::parts;
use crate::queue::{Queues, Submitted};
use crate::stock::Stock;

/// What a buyer asks for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Purchase<'a> {
    #[serde(borrow)]
    pub sale: Cow<'a, str>,
    #[serde(borrow)]
    pub sku: Cow<'a, str>,
    #[serde(borrow)]
    pub user: Cow<'a, str>,
    pub quantity: u32,
    #[serde(borrow)]
    pub request_id: Cow<'a, str>,
}

/// Longest user name and request id, characters; the columns of the order table hold as much.
pub const NAME_MAX: usize = 64;
pub const TOKEN_MAX: usize = 128;

impl Purchase<'_> {
    #[must_use]
    pub fn order_id(&self) -> OrderId {
        let derived = OrderId::derive(&self.sale, &self.sku, &self.user, &self.request_id);
        parts().order_id(self, derived)
    }

    /// Names become parts of Redis keys and ledger entries: printable ASCII without their separators.
    #[must_use]
    pub fn is_well_formed(&self) -> bool {
        is_sale_name(&self.sale)
            && is_sale_name(&self.sku)
            && is_name(&self.user, TOKEN_MAX)
            && is_name(&self.request_id, TOKEN_MAX)
            && self.quantity > 0
    }
}

/// Whether a text may name a sale or a SKU; `:` separates the two in the keys.
#[must_use]
pub fn is_sale_name(text: &str) -> bool {
    is_name(text, NAME_MAX) && !text.contains(':')
}

fn is_name(text: &str, length_max: usize) -> bool {
    let is_allowed =
        |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'{' | b'}' | b'|' | b'"' | b'\\');
    (1..=length_max).contains(&text.len()) && text.bytes().all(is_allowed)
}

/// What the buyer is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    Queued(OrderId),
    /// The request was accepted before, with this id.
    Same(OrderId),
    Refused(Reason),
}

/// The counter of the sale.
pub struct Shop {
    /// Where orders are served, apart from those who ask.
    pub work: Handle,
    pub catalogue: Arc<Catalogue>,
    pub stock: Stock,
    pub room: Arc<WaitingRoom>,
    pub queues: Queues,
}

/// A request that memory did not refuse.
struct Admitted {
    sku: Arc<Sku>,
    _entered: Entered,
    _seat: Seat,
}

impl Shop {
    /// Answers one request. The transaction goes on by itself if the caller goes away.
    pub async fn buy(&self, purchase: &Purchase<'_>) -> Answer {
        if !purchase.is_well_formed() {
            return Answer::Refused(Reason::BadRequest);
        }
        let admitted = match self.admit(purchase) {
            Ok(admitted) => admitted,
            Err(answer) => return answer,
        };
        let order_id = purchase.order_id();
        let order = OrderMessage {
            order_id: order_id.to_string(),
            sale: purchase.sale.to_string(),
            sku: purchase.sku.to_string(),
            user: purchase.user.to_string(),
            quantity: purchase.quantity,
            request_id: purchase.request_id.to_string(),
            at_ms: clock::now_ms(),
        };
        let queue = Arc::clone(&self.queues.of(&admitted.sku).queue);
        let submitting = async move {
            let submitted = queue.submit(order).await;
            drop(admitted); // Until then a seat is taken, and the SKU has somebody inside.
            submitted
        };
        let submitted = self.work.spawn(submitting).await;
        answer(order_id, submitted.unwrap_or(Submitted::QueueUnavailable))
    }

    /// Everything that can be said from memory.
    fn admit(&self, purchase: &Purchase<'_>) -> Result<Admitted, Answer> {
        let Some(sku) = self.catalogue.find(&purchase.sale, &purchase.sku) else {
            return Err(Answer::Refused(Reason::UnknownSku));
        };
        let refuse = |reason| {
            let same = sku.accepted(&purchase.user, || purchase.order_id());
            same.map_or(Answer::Refused(reason), Answer::Same)
        };
        let entered = sku.enter().map_err(|gate| refuse(at_gate(gate)))?;
        if let Some(reason) = refusal(&sku, &purchase.user, purchase.quantity) {
            return Err(refuse(reason));
        }
        if !self.stock.is_ready(&sku) {
            return Err(refuse(Reason::Paused));
        }
        if self.queues.of(&sku).congestion.is_full() {
            return Err(refuse(Reason::Busy));
        }
        let seat = self.room.sit().ok_or_else(|| refuse(Reason::Busy))?;
        Ok(Admitted {
            sku,
            _entered: entered,
            _seat: seat,
        })
    }
}

fn at_gate(gate: Gate) -> Reason {
    match gate {
        Gate::Prepared => Reason::NotStarted,
        Gate::Open | Gate::Paused => Reason::Paused,
        Gate::Closed => Reason::Ended,
    }
}

/// Why a request cannot win, as far as this node knows.
fn refusal(sku: &Sku, user: &str, quantity: u32) -> Option<Reason> {
    let (rules, now_ms) = (sku.rules(), clock::now_ms());
    if now_ms < rules.starts_at_ms {
        Some(Reason::NotStarted)
    } else if rules.ends_at_ms > 0 && now_ms >= rules.ends_at_ms {
        Some(Reason::Ended)
    } else if (rules.limit_per_user > 0 && quantity > rules.limit_per_user)
        || sku.marks.is_limited(user, quantity)
    {
        Some(Reason::LimitReached)
    } else if sku.marks.is_sold_out(quantity) {
        Some(Reason::SoldOut)
    } else {
        None
    }
}

fn answer(order_id: OrderId, submitted: Submitted) -> Answer {
    let reserved = match parts().told(submitted) {
        Submitted::QueueUnavailable => return Answer::Refused(Reason::QueueUnavailable),
        Submitted::InDoubt => return Answer::Refused(Reason::InDoubt),
        Submitted::Decided(reserved) => reserved,
    };
    match reserved {
        Reserved::Granted { .. } | Reserved::Unknown => Answer::Queued(order_id),
        Reserved::Duplicate => Answer::Same(order_id),
        Reserved::SoldOut => Answer::Refused(Reason::SoldOut),
        Reserved::LimitReached => Answer::Refused(Reason::LimitReached),
        Reserved::NotStarted => Answer::Refused(Reason::NotStarted),
        Reserved::Ended => Answer::Refused(Reason::Ended),
        Reserved::UnknownSku => Answer::Refused(Reason::UnknownSku),
        Reserved::Refused => Answer::Refused(Reason::NeverReserved),
        Reserved::Closed | Reserved::Unavailable => Answer::Refused(Reason::Paused),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sale::sku::Rules;

    #[test]
    fn names_with_separators_are_no_names() {
        for (text, expected) in [
            ("sku-1", true),
            ("", false),
            ("a b", false),
            ("a|b", false),
            ("{a}", false),
            ("ü", false),
            ("a\0", false),
        ] {
            assert_eq!(is_name(text, 8), expected, "{text}");
        }
        assert!(!is_name("123456789", 8));
    }

    #[test]
    fn memory_refuses_what_cannot_win_and_nothing_else() {
        let now = clock::now_ms();
        let rules = |starts_at_ms, ends_at_ms| Rules {
            limit_per_user: 2,
            starts_at_ms,
            ends_at_ms,
            ..Rules::default()
        };
        let cases = [
            (rules(0, 0), 1, None),
            (rules(0, 0), 3, Some(Reason::LimitReached)),
            (rules(now + 60_000, 0), 1, Some(Reason::NotStarted)),
            (rules(0, now), 1, Some(Reason::Ended)),
        ];
        for (rules, quantity, expected) in cases {
            let sku = Sku::new("s", "k", rules, Gate::Open);
            assert_eq!(
                refusal(&sku, "u", quantity),
                expected,
                "{rules:?} {quantity}"
            );
        }
        let sku = Sku::new("s", "k", Rules::default(), Gate::Open);
        sku.marks.sold_out(sku.marks.generation(), 2);
        assert_eq!(
            [1, 2].map(|q| refusal(&sku, "u", q)),
            [None, Some(Reason::SoldOut)]
        );
    }

    #[test]
    fn a_failure_is_never_called_sold_out() {
        let id = OrderId::derive("s", "k", "u", "r");
        for reserved in [Reserved::Unavailable, Reserved::Closed, Reserved::Refused] {
            let told = answer(id, Submitted::Decided(reserved));
            assert_ne!(told, Answer::Refused(Reason::SoldOut));
        }
        assert_eq!(
            answer(id, Submitted::InDoubt),
            Answer::Refused(Reason::InDoubt)
        );
        assert_eq!(
            answer(id, Submitted::QueueUnavailable),
            Answer::Refused(Reason::QueueUnavailable)
        );
        assert_eq!(
            answer(id, Submitted::Decided(Reserved::Unknown)),
            Answer::Queued(id)
        );
    }
}
