//! What is broken under a lease is mended when the lease ends.

use std::time::Duration;

use flashdrill::proxy::ProxyError;
use flashdrill::proxy::toxic::{Effect, Stream, Toxic};

use super::fixture::{Fixture, put, until};

const OWNER: &str = "drill-7";
const LONG: Duration = Duration::from_secs(600);

/// Breaks two links under the lease, one with a toxic and one by disabling it, and one without a lease.
async fn broken(ttl: Duration) -> Fixture {
    let f = Fixture::start().await;
    for name in ["down", "other"] {
        put(&f.client, name, f.echo.address).await;
    }
    f.client.renew_lease(OWNER, LONG).await.unwrap();
    let leased = f.client.under_lease(OWNER);
    let stall = Toxic::new(Stream::Upstream, Effect::Stall {});
    leased.add_toxic("echo", &stall).await.unwrap();
    leased.set_enabled("down", false).await.unwrap();
    f.client.add_toxic("other", &stall).await.unwrap();
    f.client.renew_lease(OWNER, ttl).await.unwrap();
    f
}

async fn is_mended(f: &Fixture) -> bool {
    let proxies = f.client.proxies().await.unwrap();
    assert_eq!(proxies["other"].toxics.len(), 1, "nobody's lease");
    proxies["echo"].toxics.is_empty() && proxies["down"].enabled
}

#[tokio::test]
async fn an_expired_lease_mends() {
    let f = broken(Duration::from_millis(50)).await;
    until("the lease expires", async || is_mended(&f).await).await;
    assert!(f.client.leases().await.unwrap().is_empty());
    f.connected().await;
}

#[tokio::test]
async fn a_lease_that_is_given_back_mends_at_once() {
    let f = broken(LONG).await;
    let proxies = f.client.proxies().await.unwrap();
    assert_eq!(proxies["echo"].toxics[0].lease.as_deref(), Some(OWNER));
    assert_eq!(proxies["down"].lease.as_deref(), Some(OWNER));
    assert!(f.client.leases().await.unwrap()[OWNER].left_ms > 500_000);
    f.client.end_lease(OWNER).await.unwrap();
    assert!(is_mended(&f).await);
}

#[tokio::test]
async fn nothing_is_broken_under_a_lease_that_is_not_there() {
    let f = Fixture::start().await;
    let leased = f.client.under_lease(OWNER);
    let refused = [
        leased.black_hole("echo", Stream::Upstream).await,
        leased.set_enabled("echo", false).await,
        leased.end_lease(OWNER).await,
    ];
    for answer in refused {
        assert!(
            matches!(answer, Err(ProxyError::Answer { status: 404, .. })),
            "{answer:?}"
        );
    }
    f.connected().await;
}
