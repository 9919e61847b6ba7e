//! A whole stack on real servers: up, reset, down, and nothing left.
//!
//! Needs redis-server, a MySQL-compatible server, Java and the RocketMQ jars (FLASHDRILL_ROCKETMQ).

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use flashdrill::environment::{
    EnvironmentError, Leftover, LeftoverKind, MysqlReplica, Service, ServiceOptions, Setting,
    Stack, StackOptions, links, scan_machine,
};
use flashdrill::proxy::toxic::{Effect, Stream, Toxic};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use redis::cmd;
use sqlx::{Connection, MySqlConnection};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

fn logs(test: &str) -> PathBuf {
    std::env::temp_dir().join(format!("flashdrill-test-{test}-{}", std::process::id()))
}

async fn start(test: &str) -> Stack {
    let progress = Arc::new(|line: &str| println!("{line}"));
    let begun = Instant::now();
    let options = StackOptions {
        name: test.to_owned(),
        keep_logs_in: logs(test),
        progress,
        setting: Setting::default(),
    };
    let stack = Stack::start(&options).await.expect("the stack starts");
    assert_can_be_spawned(&stack, &options);
    println!("cold start {} ms", begun.elapsed().as_millis());
    stack
}

fn replica(stack: &Stack) -> &MysqlReplica {
    stack.mysql_replica.as_ref().unwrap()
}

fn is_alive(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

/// The service's way in, the observer's way in, and what they say of each other.
async fn write_through_the_links(stack: &Stack) {
    let variables = stack.service_variables(0).await.unwrap();
    let mut mysql = MySqlConnection::connect(&variables["mysql_url"])
        .await
        .unwrap();
    sqlx::raw_sql("CREATE TABLE t (id INT PRIMARY KEY)")
        .execute(&mut mysql)
        .await
        .unwrap();

    let primary = stack.redis.primary_of("k").await.unwrap();
    let links = stack.service_links(0).await.unwrap();
    let url = format!("redis://127.0.0.1:{}/", links.redis[primary.index]);
    let client = redis::Client::open(url).unwrap();
    let mut proxied = client.get_multiplexed_async_connection().await.unwrap();
    let _: () = cmd("SET")
        .arg("k")
        .arg("v")
        .query_async(&mut proxied)
        .await
        .unwrap();
    let clients: String = cmd("CLIENT")
        .arg("LIST")
        .query_async(&mut proxied)
        .await
        .unwrap();
    assert!(
        clients.contains("addr=127.0.0.3:"),
        "proxied clients come from 127.0.0.3: {clients}"
    );
    let value: String = primary.query(cmd("GET").arg("k")).await.unwrap();
    assert_eq!(value, "v");
}

/// What the primary committed arrives; what the service may not do there is refused.
async fn the_replica_copies_and_is_read_only(stack: &Stack) {
    let begun = Instant::now();
    while let Some(missing) = replica(stack).missing(&stack.mysql).await.unwrap() {
        assert!(begun.elapsed() < Duration::from_secs(20), "{missing}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let url = &stack.service_variables(0).await.unwrap()["mysql_replica_url"];
    let mut replica = MySqlConnection::connect(url).await.unwrap();
    let rows = sqlx::query("SELECT id FROM t").fetch_all(&mut replica);
    assert!(rows.await.unwrap().is_empty(), "the table is there");
    let write = sqlx::query("INSERT INTO t VALUES (1)").execute(&mut replica);
    let refused = write.await.unwrap_err().to_string();
    assert!(refused.contains("read-only"), "{refused}");
}

/// Behind while its link is cut, and no longer.
async fn the_replica_is_cut_off_and_comes_back(stack: &Stack) {
    let link = "mysql-replication";
    stack.links.set_enabled(link, false).await.unwrap();
    let mut primary = MySqlConnection::connect(&stack.mysql.url()).await.unwrap();
    let write = sqlx::query("INSERT INTO t VALUES (7)").execute(&mut primary);
    write.await.unwrap();
    let missing = replica(stack).missing(&stack.mysql).await.unwrap();
    assert!(missing.is_some(), "nothing comes through a cut link");
    stack.heal().await.unwrap();
    let mut replica = MySqlConnection::connect(&replica(stack).mysql.url())
        .await
        .unwrap();
    let row = sqlx::query("SELECT id FROM t WHERE id = 7").fetch_optional(&mut replica);
    assert!(row.await.unwrap().is_some(), "the heal waits for the copy");
}

/// Nodes know each other by the proxy's listeners, and dial from addresses of their own.
async fn the_bus_runs_through_the_proxy(stack: &Stack) {
    for node in &stack.redis.nodes {
        let table: String = node.query(cmd("CLUSTER").arg("NODES")).await.unwrap();
        for other in &stack.redis.nodes {
            let announced = format!(
                "127.0.0.1:{}@{}",
                other.announced.port(),
                other.announced_bus_port
            );
            assert!(table.contains(&announced), "no {announced} in {table}");
        }
        let link = format!("redis-bus-{}", node.index);
        let traffic = stack.links.traffic(&link).await.unwrap();
        assert!(traffic.connections_open >= 5, "{link}: {traffic:?}");
    }
}

/// Cutting one node off leaves the other where it was.
async fn a_node_has_links_of_its_own(stack: &Stack) {
    let (first, second) = (
        stack.service_variables(0).await.unwrap(),
        stack.service_variables(1).await.unwrap(),
    );
    for name in [
        "mysql_url",
        "redis_seeds",
        "redis_address_map",
        "rocketmq_namesrv",
    ] {
        assert_ne!(first[name], second[name], "{name}");
    }
    assert_eq!(
        first,
        stack.service_variables(0).await.unwrap(),
        "opened once"
    );
    let links = stack.links.proxies().await.unwrap().into_keys();
    for link in links.filter(|link| link.starts_with("service-1-")) {
        stack.links.set_enabled(&link, false).await.unwrap();
    }
    assert!(
        MySqlConnection::connect(&second["mysql_url"])
            .await
            .is_err()
    );
    MySqlConnection::connect(&first["mysql_url"]).await.unwrap();
    stack.links.reset().await.unwrap();
}

fn service(stack: &Stack, script: &str, ready_path: &str) -> ServiceOptions {
    ServiceOptions {
        node: 0,
        command: ["sh", "-c", script].map(str::to_owned).to_vec(),
        env: [("GREETING".to_owned(), "hello from {port}".to_owned())].into(),
        // The proxy's API stands in for a service that answers.
        ready_url: format!("http://{}{ready_path}", stack.proxy_address()),
        ready_timeout: Duration::from_millis(500),
        log_file: logs("stack").join("service-0.log"),
    }
}

async fn a_service_starts_and_fails_with_a_reason(stack: &Stack) {
    let started = Service::start(stack, &service(stack, "exec sleep 600", "/version"))
        .await
        .unwrap();
    assert!(started.is_alive() && is_alive(started.pid));
    assert_eq!(
        started.base_url,
        format!("http://{}", stack.proxy_address())
    );
    assert_eq!(started.port, stack.proxy_address().port());
    started.stop().await;
    assert!(!is_alive(started.pid));

    let script = "echo $GREETING; echo no such database >&2; exit 3";
    let error = Service::start(stack, &service(stack, script, "/none"))
        .await
        .unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, EnvironmentError::Died { .. }), "{text}");
    for part in [
        "service-0 died",
        "exit status 3",
        "hello from",
        "no such database",
    ] {
        assert!(text.contains(part), "{part} not in: {text}");
    }
    let error = Service::start(stack, &service(stack, "exec sleep 600", "/none"))
        .await
        .unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, EnvironmentError::NotReady { .. }), "{text}");
    assert!(text.contains("404"), "{text}");
}

/// A process that runs `script` in the service's place.
async fn run_script(stack: &Stack, script: &str) -> Service {
    let mut options = service(stack, script, "/version");
    options.command[0] = "bash".to_owned();
    Service::start(stack, &options).await.unwrap()
}

async fn the_way_past_the_proxy_is_seen(stack: &Stack) {
    let dial = |port: u16| format!("exec 3<>/dev/tcp/127.0.0.1/{port}; sleep 600 & wait");
    let proxied = stack.service_links(0).await.unwrap().mysql;
    let honest = run_script(stack, &dial(proxied)).await;
    let past = run_script(stack, &dial(stack.mysql.address().port())).await;
    let begun = Instant::now();
    let seen = loop {
        let seen = stack.bypasses();
        if !seen.is_empty() || begun.elapsed() > Duration::from_secs(10) {
            break seen;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    let address = stack.mysql.address();
    assert_eq!(seen.len(), 1, "{seen:?}");
    let words = format!("is connected to mysql at its real address {address}");
    assert!(seen[0].ends_with(&words), "{seen:?}");
    past.stop().await;
    assert!(stack.bypasses().is_empty());
    honest.stop().await;
}

/// The child leaves its parent's group before it becomes `sleep`: from then on the end of the group spares it.
async fn has_a_child_that_sleeps(parent: u32) {
    let children = format!("/proc/{parent}/task/{parent}/children");
    let sleeps = |pid: &str| {
        std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line == b"sleep\x00600\0")
    };
    let begun = Instant::now();
    while !std::fs::read_to_string(&children)
        .unwrap()
        .split_whitespace()
        .any(sleeps)
    {
        assert!(
            begun.elapsed() < Duration::from_secs(10),
            "{parent} has none"
        );
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// The kinds and words of what is found.
fn told(found: &[Leftover]) -> Vec<String> {
    found.iter().map(ToString::to_string).collect()
}

/// Returns the process that is left.
async fn what_is_left_is_named(stack: &Stack) -> u32 {
    assert_eq!(told(&stack.leftovers().await), Vec::<String>::new());
    let toxic = Toxic::new(Stream::Upstream, Effect::Timeout { timeout: 0 });
    stack.links.add_toxic("redis-bus-3", &toxic).await.unwrap();
    stack
        .links
        .set_enabled("mysql-replication", false)
        .await
        .unwrap();
    let set = cmd("CONFIG")
        .arg("SET")
        .arg("maxmemory")
        .arg("100mb")
        .to_owned();
    stack.redis.node(2).query::<()>(&set).await.unwrap();
    let mut primary = MySqlConnection::connect(&stack.mysql.url()).await.unwrap();
    let read_only = "SET GLOBAL read_only = ON";
    sqlx::raw_sql(read_only)
        .execute(&mut primary)
        .await
        .unwrap();
    let parent = run_script(stack, "setsid sleep 600 & exec sleep 600").await;
    has_a_child_that_sleeps(parent.pid).await;
    parent.stop().await;
    let found = stack.leftovers().await;
    let said = told(&found).join("\n");
    for part in [
        "toxic timeout_upstream on redis-bus-3",
        "disabled link mysql-replication",
        "changed setting redis-2 maxmemory = 104857600 (was 0)",
        "changed setting mysql read_only = ON (was OFF)",
        ": sleep 600",
    ] {
        assert!(said.contains(part), "{part} not in: {said}");
    }
    assert_eq!(found.len(), 5, "{said}");
    stack
        .redis
        .node(2)
        .query::<()>(cmd("CONFIG").arg("SET").arg("maxmemory").arg("0"))
        .await
        .unwrap();
    sqlx::raw_sql("SET GLOBAL read_only = OFF")
        .execute(&mut primary)
        .await
        .unwrap();
    stack.heal().await.unwrap();

    let replica = &replica(stack).mysql.server;
    replica.pause().await.unwrap();
    let said = told(&stack.leftovers().await).join("\n");
    assert!(said.contains("paused server mysql-replica"), "{said}");
    replica.resume().await.unwrap();
    let process = found
        .iter()
        .find(|one| one.kind == LeftoverKind::Process)
        .unwrap();
    process.what.split(':').next().unwrap().parse().unwrap()
}

/// The machine's scan, once the stack is gone.
async fn the_machine_is_clean_but_for(pid: u32) {
    let said = told(&scan_machine().await);
    assert_eq!(said, [format!("process {pid}: sleep 600")]);
    kill(Pid::from_raw(pid.cast_signed()), Signal::SIGKILL).unwrap();
    assert_eq!(told(&scan_machine().await), Vec::<String>::new());
}

/// A message as a RocketMQ producer sends it (request code 10), through the service's link.
async fn send_message(stack: &Stack, sys_flag: u32, properties: &str) {
    let fields = serde_json::json!({
        "producerGroup": "test", "topic": "orders", "defaultTopic": "TBW102",
        "defaultTopicQueueNums": "20", "queueId": "3", "sysFlag": sys_flag.to_string(),
        "bornTimestamp": "0", "flag": "0", "properties": properties, "reconsumeTimes": "0",
    });
    let header = serde_json::json!({
        "code": 10, "language": "OTHER", "version": 0, "opaque": 5, "flag": 0, "extFields": fields,
    });
    let (header, body) = (header.to_string(), b"one order");
    let length = header.len() as u32;
    let mut frame = (length + 4 + body.len() as u32).to_be_bytes().to_vec();
    frame.extend(length.to_be_bytes());
    frame.extend(header.as_bytes());
    frame.extend(body);
    let port = stack.rocketmq.broker_address.port();
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    stream.write_all(&frame).await.unwrap();
    let mut answer = vec![0; stream.read_u32().await.unwrap() as usize];
    stream.read_exact(&mut answer).await.unwrap();
    assert!(
        String::from_utf8_lossy(&answer).contains("\"code\":0"),
        "the broker took it"
    );
}

/// Polls: the broker makes messages visible a little after it has stored them.
async fn wait_for_backlog(stack: &Stack, expected: (u64, u64)) {
    let begun = Instant::now();
    loop {
        let backlog = stack.rocketmq.backlog("orders", "nobody").await.unwrap();
        let seen = (backlog, stack.rocketmq.half_messages().await.unwrap());
        if seen == expected {
            return;
        }
        assert!(
            begun.elapsed() < Duration::from_secs(20),
            "{seen:?} is not {expected:?}"
        );
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn the_backlog_is_what_nobody_consumed(stack: &Stack) {
    stack.rocketmq.create_topic("orders", 20).await.unwrap();
    wait_for_backlog(stack, (0, 0)).await;
    for _ in 0..3 {
        send_message(stack, 0, "").await;
    }
    wait_for_backlog(stack, (3, 0)).await;
    // MessageSysFlag.TRANSACTION_PREPARED_TYPE; a half message is no backlog, but is seen.
    send_message(
        stack,
        4,
        "TRAN_MSG\u{1}true\u{2}PGROUP\u{1}test\u{2}UNIQ_KEY\u{1}k\u{2}",
    )
    .await;
    wait_for_backlog(stack, (3, 1)).await;
}

/// The run may drive the stack from a task of its own.
fn assert_can_be_spawned(stack: &Stack, options: &StackOptions) {
    fn is_send(_: &impl Send) {}
    let service = service(stack, "", "/");
    is_send(&Stack::start(options));
    is_send(&stack.reset());
    is_send(&stack.stop());
    is_send(&Service::start(stack, &service));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stack_starts_resets_and_stops_without_a_trace() {
    let _only = crate::ONLY_STACK.lock().await;
    let stack = start("stack").await;
    let variables = stack.service_variables(0).await.unwrap();
    let scratch = PathBuf::from(&variables["scratch"]);
    println!(
        "{variables:#?}\n{:#?}\n{:?}",
        stack.versions(),
        stack.cpu_ms()
    );
    assert_eq!(variables["redis_seeds"].split(',').count(), 6);
    assert_eq!(variables["redis_address_map"].matches('=').count(), 6);
    assert!(scratch.is_dir());
    a_node_has_links_of_its_own(&stack).await;
    for product in ["redis", "mysql", "rocketmq", "java", "proxy"] {
        assert!(
            stack.versions()[product].contains('.'),
            "{product}: {:?}",
            stack.versions()
        );
    }

    write_through_the_links(&stack).await;
    the_replica_copies_and_is_read_only(&stack).await;
    the_replica_is_cut_off_and_comes_back(&stack).await;
    the_bus_runs_through_the_proxy(&stack).await;
    the_backlog_is_what_nobody_consumed(&stack).await;
    a_service_starts_and_fails_with_a_reason(&stack).await;
    the_way_past_the_proxy_is_seen(&stack).await;
    let left = what_is_left_is_named(&stack).await;

    stack
        .links
        .set_enabled(&links::service_mysql(0), false)
        .await
        .unwrap();
    stack.rocketmq.broker.kill().await.unwrap();
    let begun = Instant::now();
    stack.reset().await.unwrap();
    println!(
        "reset with a dead broker {} ms",
        begun.elapsed().as_millis()
    );
    let begun = Instant::now();
    stack.reset().await.unwrap();
    println!("reset {} ms", begun.elapsed().as_millis());
    write_through_the_links(&stack).await;

    let servers = stack.servers();
    let pids: Vec<u32> = servers.iter().filter_map(|server| server.pid()).collect();
    assert_eq!(pids.len(), 10);
    let begun = Instant::now();
    stack.stop().await;
    println!("stop {} ms", begun.elapsed().as_millis());
    assert!(!pids.into_iter().any(is_alive), "a server is left");
    assert!(!scratch.exists(), "the scratch folder is left");
    stack.stop().await;
    drop((stack, servers));
    the_machine_is_clean_but_for(left).await;
    std::fs::remove_dir_all(logs("stack")).unwrap();
}
