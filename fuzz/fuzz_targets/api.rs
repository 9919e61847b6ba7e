//! Bodies of the proxy's API: no panic, and what is understood reads the same after it was written.

#![no_main]

use flashdrill::proxy::client::{LinkRequest, LinkUpdate};
use flashdrill::proxy::cut::Cut;
use flashdrill::proxy::toxic::Toxic;
use libfuzzer_sys::fuzz_target;
use serde::Serialize;
use serde::de::DeserializeOwned;

fuzz_target!(|body: &[u8]| {
    again::<Toxic>(body);
    again::<LinkUpdate>(body);
    again::<Vec<LinkRequest>>(body);
    again::<LinkRequest>(body);
    if let Some(cut) = again::<Cut>(body) {
        let _ = cut.named().check();
    }
});

fn again<T: Serialize + DeserializeOwned + PartialEq>(body: &[u8]) -> Option<T> {
    let read: T = serde_json::from_slice(body).ok()?;
    let written = serde_json::to_vec(&read).expect("what was read can be written");
    let reread: T = serde_json::from_slice(&written).expect("what was written can be read");
    assert!(reread == read, "{}", String::from_utf8_lossy(&written));
    Some(read)
}
