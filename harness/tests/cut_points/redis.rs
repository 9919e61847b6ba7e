use std::net::SocketAddr;
use std::time::{Duration, Instant};

use flashdrill::proxy::cut::{Action, Cut, Protocol, Then};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{sleep, timeout};

use crate::servers::{Server, redis, redis_node};
use crate::{LINK, SOON, link_to, lose_reply, read_to_end};

/// Long enough to see that nothing arrives.
const QUIET: Duration = Duration::from_millis(300);

/// Serves every slot, and clients that come from the proxy's address.
fn redis_server() -> Server {
    let server = redis_node();
    redis(server.address, "CLUSTER ADDSLOTSRANGE 0 16383");
    redis(server.address, "CONFIG SET protected-mode no");
    let begun = Instant::now();
    while !redis(server.address, "CLUSTER INFO").contains("cluster_state:ok") {
        assert!(begun.elapsed() < SOON, "the cluster does not form");
        std::thread::sleep(Duration::from_millis(20));
    }
    server
}

/// A script that counts at `counter`, by its name.
fn counting_script(redis_address: SocketAddr) -> String {
    let loaded = redis(
        redis_address,
        r#"SCRIPT LOAD "return redis.call('INCR', KEYS[1])""#,
    );
    loaded.lines().nth(1).unwrap().to_owned()
}

fn evalsha(script: &str) -> String {
    format!("*4\r\n$7\r\nEVALSHA\r\n$40\r\n{script}\r\n$1\r\n1\r\n$7\r\ncounter\r\n")
}

#[tokio::test]
async fn a_script_is_executed_and_its_reply_lost() {
    let server = redis_server();
    let script = counting_script(server.address);
    let f = link_to(server.address).await;
    f.client.follow(LINK, Some(Protocol::Resp)).await.unwrap();
    let cut = Cut {
        nth: 2,
        key: Some("counter".into()),
        ..lose_reply(Protocol::Resp, "EVALSHA", Then::Reset)
    };
    let mut stream = f.connect().await;
    f.client.add_cut(LINK, &cut).await.unwrap();
    let commands = format!("PING\r\n{0}{0}", evalsha(&script));
    stream.write_all(commands.as_bytes()).await.unwrap();
    let (answer, is_reset) = read_to_end(&mut stream).await;
    assert!("+PONG\r\n:1\r\n".starts_with(&answer), "{answer:?}");
    assert!(is_reset);
    assert!(redis(server.address, "GET counter").contains("\r\n2\r\n"));
    let cut = f.fired(&cut.name, 1).await;
    assert_eq!((cut.seen, cut.fired), (2, 1));

    let mut fresh = f.connect().await;
    fresh.write_all(evalsha(&script).as_bytes()).await.unwrap();
    let mut answer = [0; 4];
    timeout(SOON, fresh.read_exact(&mut answer))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(&answer, b":3\r\n", "once only");
}

#[tokio::test]
async fn a_hanging_connection_is_reset_when_its_cut_is_removed() {
    let server = redis_server();
    let f = link_to(server.address).await;
    f.client.follow(LINK, Some(Protocol::Resp)).await.unwrap();
    let cut = lose_reply(Protocol::Resp, "INCR", Then::Hang);
    f.client.add_cut(LINK, &cut).await.unwrap();
    let mut stream = f.connect().await;
    stream.write_all(b"INCR counter\r\n").await.unwrap();
    f.fired(&cut.name, 1).await;
    stream.write_all(b"INCR counter\r\n").await.unwrap();
    let silent = timeout(QUIET, stream.read(&mut [0; 1])).await;
    assert!(silent.is_err(), "{silent:?}");
    assert!(redis(server.address, "GET counter").contains("\r\n1\r\n"));
    f.client.remove_cut(LINK, &cut.name).await.unwrap();
    assert_eq!(read_to_end(&mut stream).await, (String::new(), true));
}

#[tokio::test]
async fn a_request_is_forwarded_whole_before_the_close() {
    let server = redis_server();
    let f = link_to(server.address).await;
    let cut = Cut::next(Protocol::Resp, "set", Action::Close);
    f.client.add_cut(LINK, &cut).await.unwrap();
    let mut stream = f.connect().await;
    let value = "v".repeat(100_000);
    let command = format!("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$100000\r\n{value}\r\nINCR never\r\n");
    stream.write_all(command.as_bytes()).await.unwrap();
    let (_, is_reset) = read_to_end(&mut stream).await;
    assert!(is_reset);
    f.fired("set_close", 1).await;
    let begun = Instant::now();
    while !redis(server.address, "STRLEN k").contains(":100000") {
        assert!(begun.elapsed() < SOON, "the request did not arrive");
        sleep(Duration::from_millis(10)).await;
    }
    assert!(redis(server.address, "GET never").contains("$-1"));
}

/// A link that expects another protocol carries what it gets.
#[tokio::test]
async fn another_protocol_passes_untouched() {
    let server = redis_server();
    for protocol in [Protocol::Mysql, Protocol::Remoting] {
        let f = link_to(server.address).await;
        let at = if protocol == Protocol::Mysql {
            "SELECT"
        } else {
            "HEART_BEAT"
        };
        f.client
            .add_cut(LINK, &Cut::next(protocol, at, Action::Close))
            .await
            .unwrap();
        let mut stream = f.connect().await;
        stream
            .write_all(b"ECHO this-and-no-more\r\nQUIT\r\n")
            .await
            .unwrap();
        let (answer, _) = read_to_end(&mut stream).await;
        assert_eq!(answer, "$16\r\nthis-and-no-more\r\n+OK\r\n", "{protocol:?}");
    }
}

#[tokio::test]
async fn cuts_are_listed_shown_and_refused() {
    let server = redis_server();
    let f = link_to(server.address).await;
    let cut = lose_reply(Protocol::Resp, "EVALSHA", Then::Reset);
    f.client.add_cut(LINK, &cut).await.unwrap();
    let again = f.client.add_cut(LINK, &cut).await.unwrap_err();
    assert!(again.to_string().contains("409"), "{again}");
    let other = lose_reply(Protocol::Mysql, "COMMIT", Then::Reset);
    let other = f
        .client
        .add_cut(LINK, &other)
        .await
        .unwrap_err()
        .to_string();
    assert!(
        other.contains("resp"),
        "the link carries one protocol: {other}"
    );
    let unsound = Cut::next(Protocol::Resp, "SET", Action::Twice);
    let unsound = f.client.add_cut(LINK, &unsound).await.unwrap_err();
    assert!(unsound.to_string().contains("400"), "{unsound}");
    f.client.reset().await.unwrap();
    assert_eq!(f.client.cuts(LINK).await.unwrap(), []);
    f.client.renew_lease("drill", SOON).await.unwrap();
    let leased = f.client.under_lease("drill");
    leased.add_cut(LINK, &cut).await.unwrap();
    let shown = f.client.cut(LINK, &cut.name).await.unwrap();
    assert_eq!(shown.lease.as_deref(), Some("drill"));
    f.client.end_lease("drill").await.unwrap();
    assert_eq!(f.client.cuts(LINK).await.unwrap(), []);
    let gone = f.client.remove_cut(LINK, &cut.name).await.unwrap_err();
    assert!(gone.to_string().contains("404"), "{gone}");
}
