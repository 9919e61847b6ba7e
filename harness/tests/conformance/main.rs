//! The built-in proxy and the real Toxiproxy, asked the same: by our client, by `toxiproxy_rust`, and by
//! plain HTTP. What differs on purpose is one table, in `differences`.

#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod api;
mod differences;
#[path = "../echo/mod.rs"]
mod echo;
mod effects;
mod sight;
mod subject;
mod via;
