//! The sale: what is sold, who may buy, and the way of a request from the gateway to its order.

pub mod buy;
pub mod catalogue;
pub mod clock;
pub mod desk;
pub mod marks;
pub mod order;
pub mod promises;
pub mod settler;
pub mod sku;
pub mod transaction;
pub mod waiting_room;
