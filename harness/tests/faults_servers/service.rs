//! Faults of a service node: the bundled service, in the build that has failpoints.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use flashdrill::environment::{Service, ServiceOptions};
use flashdrill::faults::{Fault, ServiceClockJump, ServiceCrash};
use flashdrill::target::call::{CallError, call, filled};
use flashdrill::target::file::load;
use flashdrill::target::template::fill;
use tokio::time::timeout;

use super::ground::{Ground, SOON, healed, without_receipt};

const HOUR_MS: i64 = 3_600_000;
const AT: &str = "after_half_message";

/// Node 0 of the service, with one SKU on sale.
pub async fn start(ground: &mut Ground) -> Service {
    // Other tests have left tables of their own.
    ground.stack.reset().await.unwrap();
    let drills = Path::new(env!("CARGO_MANIFEST_DIR")).join("../drills");
    ground.target = load(&drills.join("targets/flashsale.toml")).unwrap();
    // `make test` builds the service's binaries beside it.
    let flashdrill = Path::new(env!("CARGO_BIN_EXE_flashdrill"));
    let bin_dir = flashdrill.parent().unwrap().display().to_string();
    for (name, value) in [
        ("bin_dir", bin_dir.as_str()),
        ("run", "faults"),
        ("sale", "faults"),
        ("sku", "s1"),
        ("stock", "10000"),
        ("limit_per_user", "1"),
        // Nobody listens there: alerts are not what is tested.
        ("alert_url", "http://127.0.0.1:9/alerts"),
        ("quantity", "1"),
        ("address", "127.0.0.1"),
    ] {
        ground.variables.insert(name.to_owned(), value.to_owned());
    }
    let service = node(ground).await;
    let start = &ground.target.start;
    let prepare = start.prepare.iter().map(|step| &step.request);
    for request in prepare.chain(&start.open) {
        let url = &service.base_url;
        call(url, request, &ground.variables).await.unwrap();
    }
    service
}

async fn node(ground: &Ground) -> Service {
    let start = &ground.target.start;
    let mut variables = ground.variables.clone();
    variables.insert("role".to_owned(), start.roles[0].name.clone());
    variables.insert("port".to_owned(), "{port}".to_owned());
    let command = start.failpoint_command.iter();
    let options = ServiceOptions {
        node: 0,
        command: command
            .map(|part| fill(part, &variables).unwrap())
            .collect(),
        env: filled(&start.env, &variables).unwrap(),
        ready_url: format!("http://127.0.0.1:{{port}}{}", start.ready_path),
        ready_timeout: Duration::from_millis(start.ready_timeout_ms),
        log_file: ground.logs.join("service-0.log"),
    };
    Service::start(&ground.stack, &options).await.unwrap()
}

async fn buy(ground: &Ground, service: &Service, user: &str) -> Result<String, CallError> {
    let mut variables = ground.variables.clone();
    for name in ["user", "request_id"] {
        variables.insert(name.to_owned(), user.to_owned());
    }
    let request = &ground.target.requests.buy;
    call(&service.base_url, request, &variables).await
}

/// Buys, and returns how far the time in the order's row is ahead of ours.
async fn lead_of_an_order_ms(ground: &Ground, service: &Service, user: &str) -> i64 {
    buy(ground, service, user).await.unwrap();
    let mut connection = ground.connect().await.unwrap();
    loop {
        let query = sqlx::query_scalar("SELECT requested_at_ms FROM orders WHERE user = ?");
        let found: Option<u64> = query
            .bind(user)
            .fetch_optional(&mut connection)
            .await
            .unwrap();
        if let Some(requested_at_ms) = found {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
            return requested_at_ms.cast_signed() - now.as_millis() as i64;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Until an order's time is `offset_ms` ahead of ours, give or take what a busy machine takes.
async fn orders_are_off_by(ground: &Ground, service: &Service, offset_ms: i64) {
    for number in 0.. {
        let user = format!("{offset_ms}-{number}");
        let off_ms = lead_of_an_order_ms(ground, service, &user).await - offset_ms;
        if off_ms.abs() < HOUR_MS / 2 {
            return;
        }
    }
}

pub async fn a_node_s_clock_jumps(ground: &Ground, service: &Service) {
    let jump = |offset_ms| Fault::ServiceClockJump(ServiceClockJump { offset_ms, node: 0 });
    for (offset_ms, said) in [(HOUR_MS, "ms ahead of ours"), (-HOUR_MS, "ms behind ours")] {
        let bought = timeout(SOON, orders_are_off_by(ground, service, offset_ms));
        let (event, bought) = ground.during(jump(offset_ms), bought).await;
        assert!(healed(&event).contains(said), "{event:?}");
        bought.expect("an order has the wrong time");
    }
    let lead_ms = lead_of_an_order_ms(ground, service, "healed").await;
    assert!(lead_ms.abs() < HOUR_MS / 2, "{lead_ms} ms");
    let event = ground.unnoticed(jump(0)).await;
    without_receipt(&event, "service-0's clock is right");
}

fn crash(at: &str) -> Fault {
    let at = at.to_owned();
    Fault::ServiceCrash(ServiceCrash { at, node: 0 })
}

pub async fn a_node_crashes_where_it_is_told_to(ground: &Ground, service: &Service) {
    let event = ground.unnoticed(crash(AT)).await;
    without_receipt(&event, "service-0 has not come to after_half_message");
    assert_eq!(service.server.pid(), Some(service.pid), "it lives on");
    buy(ground, service, "lucky")
        .await
        .expect("the failpoint is off");

    // The first of them makes it crash, once it is told to.
    let buying = async {
        for number in 0.. {
            let _ = buy(ground, service, &format!("u{number}")).await;
            if !service.is_alive() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let (event, crashed) = ground.during(crash(AT), timeout(SOON, buying)).await;
    crashed.expect("it crashed");
    let how = format!("service-0 (pid {}) crashed at {AT}: signal 6", service.pid);
    assert!(healed(&event).contains(&how), "{event:?}");
    assert!(service.is_alive() && service.server.pid() != Some(service.pid));
}

pub async fn a_failpoint_that_is_not_there_is_named(ground: &Ground) {
    let event = ground.unnoticed(crash("after_lunch")).await;
    without_receipt(
        &event,
        "no failpoint after_lunch; there are after_half_message",
    );
}
