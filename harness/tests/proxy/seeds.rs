//! Toxicity hits the same connections for the same seed.

use flashdrill::proxy::toxic::{Effect, Stream, Toxic};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::fixture::Fixture;

/// Which of 40 connections a toxic of toxicity 0.5 cuts.
async fn hits(seed: u64) -> Vec<bool> {
    let f = Fixture::with_seed(seed).await;
    let mut toxic = Toxic::new(Stream::Downstream, Effect::LimitData { bytes: 0 });
    toxic.toxicity = 0.5;
    f.client.add_toxic("echo", &toxic).await.unwrap();
    let mut hits = Vec::new();
    for _ in 0..40 {
        let mut stream = f.connect().await;
        stream.write_all(b"x").await.unwrap();
        hits.push(!matches!(stream.read(&mut [0; 1]).await, Ok(1)));
    }
    hits
}

#[tokio::test]
async fn a_seed_repeats_and_another_differs() {
    let first = hits(7).await;
    assert!(first.contains(&true) && first.contains(&false), "{first:?}");
    assert_eq!(first, hits(7).await);
    assert_ne!(first, hits(8).await);
}
