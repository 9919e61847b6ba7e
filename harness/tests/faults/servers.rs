//! Servers frozen, killed and ended.

use flashdrill::environment::Stack;
use flashdrill::faults::{Fault, ServerKill, ServerName, ServerPause, ServerRestart};
use redis::cmd;

use super::{count, planned, receipt, run, run_all};

fn name(name: &str) -> ServerName {
    ServerName::new(name.to_owned()).unwrap()
}

/// All at once: each is healed by itself.
pub async fn frozen_servers_do_not_answer_and_go_on(stack: &Stack) {
    let servers = [
        "mysql",
        "mysql-replica",
        "redis-replica",
        "rocketmq-broker",
        "rocketmq-namesrv",
    ];
    let pause = |server: &str| {
        let pause = ServerPause {
            server: name(server),
            sku: count(1),
        };
        planned(0, 1_500, Fault::ServerPause(pause))
    };
    let events = run_all(stack, servers.map(pause).to_vec()).await;
    for (server, event) in servers.iter().zip(events) {
        let receipt = receipt(event);
        assert!(receipt.contains("is stopped;"), "{server}: {receipt}");
    }
}

pub async fn killed_and_ended_servers_come_back(stack: &Stack) {
    let sku = count(1);
    let kill = ServerKill {
        server: name("mysql"),
        sku,
    };
    let restart = ServerRestart {
        server: name("redis-replica"),
        sku,
        grace_ms: 5_000,
    };
    let planned = vec![
        planned(0, 500, Fault::ServerKill(kill)),
        planned(0, 500, Fault::ServerRestart(restart)),
    ];
    let pid = stack.mysql.server.pid();
    let mut events = run_all(stack, planned).await.into_iter();
    let killed = receipt(events.next().unwrap());
    assert!(
        killed.starts_with("mysql (pid ") && killed.contains("signal 9"),
        "{killed}"
    );
    let ended = receipt(events.next().unwrap());
    assert!(ended.contains("ended: exit status 0"), "{ended}");
    assert!(stack.mysql.server.is_alive() && stack.mysql.server.pid() != pid);
    for node in &stack.redis.nodes {
        let pong: String = node.query(&cmd("PING")).await.unwrap();
        assert_eq!(pong, "PONG");
    }
}

pub async fn a_server_that_is_not_there_is_named(stack: &Stack) {
    let kill = ServerKill {
        server: name("redis-9"),
        sku: count(1),
    };
    let event = run(stack, 50, Fault::ServerKill(kill)).await;
    let error = event.error.expect("a reason");
    assert!(
        error.contains("no server is called redis-9; there are"),
        "{error}"
    );
    assert!(error.contains("redis-5"), "{error}");
}
