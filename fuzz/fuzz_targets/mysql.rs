//! Any bytes of either side, in any chunks: no panic, and every byte passes untouched.

#![no_main]

mod session;

use flashdrill::proxy::cut::Protocol;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| session::run(Protocol::Mysql, input));
