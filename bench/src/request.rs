//! The same request by every tool, how many at a time, and which latencies are asked for.

pub const PATH: &str = "/buy";
pub const BODY: &str = "sku=7&user=1001&quantity=1";
pub const CONTENT_TYPE: &str = "application/x-www-form-urlencoded";
/// Connections, or users, of every tool.
pub const CONNECTIONS: u32 = 64;
/// Requests in flight on one connection when a tool pipelines.
pub const DEPTH: u32 = 16;
/// What is asked of tools that print any percentile, in per cent.
pub const PERCENTS: [f64; 9] = [10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99];
