//! Flashdrill's load generator beside other load generators: one server, one request, one machine, one run.
//!
//! Knows flashdrill only as a command, like every other tool. What counts is read from the server and the
//! kernel, never from a tool: requests are counted where they are answered, CPU where it is accounted.

mod bars;
pub mod check;
pub mod cli;
mod cpu;
mod drills;
mod machine;
mod measure;
mod median;
pub mod orders;
mod plot;
pub mod proxy;
pub mod request;
mod result;
mod scratch;
pub mod server;
mod table;
mod tool;
mod truth;
