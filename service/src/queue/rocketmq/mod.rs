//! RocketMQ behind the queue's interface, by the Rust client for the broker's own protocol.
//!
//! The client's own recovery is too slow for a sale (after five refused connections it refuses to connect for
//! 30 s, whatever the server does), so a probe of ours watches the broker, and the client is built anew when
//! the probe says that the broker is back.

mod admin;
mod client;
mod consumer;
mod depth;
mod error;
mod fate;
mod filling;
mod listener;
mod offsets;
mod path;
mod polled;
mod producer;
mod publisher;
mod remoting;
mod sender;
mod transactor;
mod watch;

pub use consumer::Consumer;
pub use depth::Depth;
pub use error::QueueError;
pub use path::RocketMqQueue;
pub use producer::Producer;
pub use publisher::Publisher;

/// Queues of the topic: enough for parallel consumers (MQ-4).
pub const QUEUES: i32 = 20;
