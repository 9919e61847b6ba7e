//! Bodies of the proxy's API: no panic, and what is understood can be written and read again.

#![no_main]

use flashdrill::proxy::client::{LinkRequest, LinkUpdate};
use flashdrill::proxy::cut::Cut;
use flashdrill::proxy::toxic::{Effect, Stream, Toxic, ToxicRequest, ToxicUpdate};
use libfuzzer_sys::fuzz_target;
use serde::Serialize;
use serde::de::DeserializeOwned;

fuzz_target!(|body: &[u8]| {
    let latency = Effect::Latency {
        latency: 1,
        jitter: 1,
    };
    let mut toxic = Toxic::new(Stream::Upstream, latency);
    if let Ok(request) = serde_json::from_slice::<ToxicRequest>(body)
        && let Ok(asked) = Toxic::try_from(request)
    {
        again(&asked);
        toxic = asked;
    }
    if let Ok(update) = serde_json::from_slice::<ToxicUpdate>(body)
        && let Ok(updated) = update.apply(&toxic)
    {
        again(&updated);
    }
    if let Ok(cut) = serde_json::from_slice::<Cut>(body) {
        let cut = cut.named();
        let is_sound = cut.check().is_ok();
        let reread = again(&cut);
        assert!(reread == cut && reread.check().is_ok() == is_sound);
    }
    if let Ok(links) = serde_json::from_slice::<Vec<LinkRequest>>(body) {
        assert!(again(&links) == links);
    }
    if let Ok(update) = serde_json::from_slice::<LinkUpdate>(body) {
        assert!(again(&update) == update);
    }
});

fn again<T: Serialize + DeserializeOwned>(read: &T) -> T {
    let written = serde_json::to_vec(read).expect("what was read can be written");
    serde_json::from_slice(&written).expect("what was written can be read")
}
