//! Every toxic on real connections: the same table through both clients, on both proxies.

use std::net::SocketAddr;
use std::time::Duration;

use flashdrill::proxy::toxic::{Effect, Stream, Toxic};
use futures_util::future::join_all;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::echo::Echo;
use super::sight::{End, SENT, look};
use super::subject::{Subject, free_port};
use super::via::Via;

/// A toxic, and what a client sees through it.
struct Case {
    effect: Effect,
    bytes: usize,
    end: End,
    took_ms_min: u64,
}

const fn case(effect: Effect, bytes: usize, end: End, took_ms_min: u64) -> Case {
    Case {
        effect,
        bytes,
        end,
        took_ms_min,
    }
}

const CASES: [Case; 11] = [
    case(
        Effect::Latency {
            latency: 200,
            jitter: 0,
        },
        SENT,
        End::Open,
        200,
    ),
    case(
        Effect::Latency {
            latency: 200,
            jitter: 50,
        },
        SENT,
        End::Open,
        150,
    ),
    case(Effect::Bandwidth { rate: 2 }, SENT, End::Open, 450),
    case(Effect::Bandwidth { rate: 0 }, 0, End::Silent, 0),
    case(Effect::SlowClose { delay: 100 }, SENT, End::Open, 0),
    case(Effect::Timeout { timeout: 0 }, 0, End::Silent, 0),
    case(Effect::Timeout { timeout: 100 }, 0, End::Closed, 100),
    case(Effect::ResetPeer { timeout: 100 }, 0, End::Reset, 100),
    case(
        Effect::Slicer {
            average_size: 100,
            size_variation: 0,
            delay: 20_000,
        },
        SENT,
        End::Open,
        140,
    ),
    case(Effect::LimitData { bytes: 300 }, 300, End::Closed, 0),
    case(Effect::LimitData { bytes: 1_000_000 }, SENT, End::Open, 0),
];

/// Cases at a time: as many as two busy cores can look at.
const AT_ONCE: usize = 8;

struct Bench {
    via: Via,
    echo: Echo,
}

impl Bench {
    /// A link of that name; where it listens.
    async fn link(&self, name: &str, upstream: SocketAddr) -> SocketAddr {
        let listen = SocketAddr::from(([127, 0, 0, 1], 0));
        self.via
            .populate(vec![(name.to_owned(), listen, upstream)])
            .await;
        self.via.all().await[name].listen
    }

    async fn echo_link(&self, name: &str) -> SocketAddr {
        self.link(name, self.echo.address).await
    }

    async fn check(&self, at: usize, case: &Case, stream: Stream) {
        let name = format!("{at}-{}-{}", case.effect.name(), stream.name());
        let listen = self.echo_link(&name).await;
        let toxic = Toxic::new(stream, case.effect);
        if !self.via.add(&name, &toxic).await {
            return;
        }
        let sight = look(listen).await;
        assert_eq!(sight.end, case.end, "{name}: {sight:?}");
        assert!(
            sight.took >= Duration::from_millis(case.took_ms_min),
            "{name}: {sight:?}"
        );
        // The answer to a request that was cut short may be lost with its connection.
        let is_lost = stream == Stream::Upstream && sight.end == End::Closed;
        let fits = sight.bytes == case.bytes || is_lost && sight.bytes < case.bytes;
        assert!(fits, "{name}: {sight:?}");
        self.via.clear(&name).await;
        let sight = look(listen).await;
        assert_eq!(
            (sight.bytes, sight.end),
            (SENT, End::Open),
            "{name} removed: {sight:?}"
        );
    }

    /// A toxicity of 0 hits nobody.
    async fn check_toxicity(&self) {
        let listen = self.echo_link("toxicity").await;
        let mut toxic = Toxic::new(Stream::Downstream, Effect::LimitData { bytes: 0 });
        toxic.toxicity = 0.0;
        assert!(self.via.add("toxicity", &toxic).await);
        for _ in 0..5 {
            assert_eq!(look(listen).await.end, End::Open);
        }
    }

    /// What a rate of 0 held back goes on when it is removed.
    async fn check_resume(&self) {
        let listen = self.echo_link("resume").await;
        let mut stream = TcpStream::connect(listen).await.unwrap();
        let toxic = Toxic::new(Stream::Downstream, Effect::Bandwidth { rate: 0 });
        assert!(self.via.add("resume", &toxic).await);
        stream.write_all(b"held").await.unwrap();
        let mut answer = [0; 4];
        let early = timeout(Duration::from_millis(300), stream.read(&mut answer)).await;
        assert!(early.is_err(), "{early:?}");
        self.via.clear("resume").await;
        let late = timeout(Duration::from_secs(10), stream.read_exact(&mut answer)).await;
        late.unwrap().unwrap();
        assert_eq!(&answer, b"held");
    }

    /// Toxics and disabling end with the reset; a removed link is gone.
    async fn check_life(&self) {
        let listen = self.echo_link("life").await;
        let mut open = TcpStream::connect(listen).await.unwrap();
        let toxic = Toxic::new(Stream::Upstream, Effect::Timeout { timeout: 0 });
        assert!(self.via.add("life", &toxic).await);
        self.via.set_enabled("life", false).await;
        let told = self.via.all().await.remove("life").unwrap();
        assert_eq!(
            (told.enabled, told.toxics),
            (false, vec!["timeout_upstream".to_owned()])
        );
        assert_eq!(look(listen).await.end, End::Refused);
        let end = timeout(Duration::from_secs(10), open.read(&mut [0; 1])).await;
        assert!(
            matches!(end, Ok(Ok(0) | Err(_))),
            "open connections end: {end:?}"
        );
        self.via.set_enabled("life", true).await;
        assert_eq!(look(listen).await.end, End::Silent, "its toxics stay");
        self.via.set_enabled("life", false).await;
        self.via.reset().await;
        assert_eq!(look(listen).await.end, End::Open);
        self.via.remove("life").await;
        assert_eq!(look(listen).await.end, End::Refused);
        assert!(!self.via.all().await.contains_key("life"));
    }

    async fn check_dead_upstream(&self) {
        let vacant = SocketAddr::from(([127, 0, 0, 1], free_port()));
        let listen = self.link("dead", vacant).await;
        let sight = look(listen).await;
        // The text was on its way: what the client gets for it is a close or a reset.
        assert!(matches!(sight.end, End::Closed | End::Reset), "{sight:?}");
    }
}

async fn check_all(via: Via) {
    let echo = Echo::start().await;
    let bench = Bench { via, echo };
    // A reset touches all links: before the others.
    bench.check_life().await;
    tokio::join!(
        bench.check_toxicity(),
        bench.check_resume(),
        bench.check_dead_upstream()
    );
    let cases: Vec<_> = CASES.iter().enumerate().collect();
    for some in cases.chunks(AT_ONCE / 2) {
        let both = some
            .iter()
            .flat_map(|(at, case)| Stream::BOTH.map(|stream| (*at, *case, stream)));
        join_all(both.map(|(at, case, stream)| bench.check(at, case, stream))).await;
    }
}

#[tokio::test]
async fn the_built_in_proxy_through_our_client() {
    let subject = Subject::built_in();
    check_all(Via::our_client(subject.address())).await;
}

#[tokio::test]
async fn the_built_in_proxy_through_toxiproxy_rust() {
    let subject = Subject::built_in();
    check_all(Via::toxiproxy_rust(subject.address()).await).await;
}

#[tokio::test]
async fn toxiproxy_through_our_client() {
    if let Some(subject) = Subject::toxiproxy().await {
        check_all(Via::our_client(subject.address())).await;
    }
}

#[tokio::test]
async fn toxiproxy_through_toxiproxy_rust() {
    if let Some(subject) = Subject::toxiproxy().await {
        check_all(Via::toxiproxy_rust(subject.address()).await).await;
    }
}
