//! One stack, a target of which only the stores matter, and one SKU on sale.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use flashdrill::drill::plan::{PlannedFault, Sku};
use flashdrill::drill::range::Count;
use flashdrill::environment::{Setting, Stack, StackOptions};
use flashdrill::faults::{self, Fault, FaultEvent, Site, Timeline};
use flashdrill::history::FaultEpoch;
use flashdrill::target::template::Variables;
use flashdrill::target::{Poison, StateQueries, Target};
use sqlx::{Connection, MySqlConnection};

/// Long enough for a busy machine: what is awaited comes within milliseconds.
pub const SOON: Duration = Duration::from_secs(20);
/// A fault that is told to heal long before: the receipt must come earlier.
const LONG_MS: u64 = 60_000;

pub struct Ground {
    pub stack: Stack,
    pub target: Target,
    pub variables: Variables,
    skus: [Sku; 1],
    pub logs: PathBuf,
}

pub fn count(value: u64) -> Count {
    Count::new(value).unwrap()
}

impl Ground {
    pub async fn start() -> Self {
        let name = "faults-servers";
        let logs = format!("flashdrill-test-{name}-{}", std::process::id());
        let logs = std::env::temp_dir().join(logs);
        let options = StackOptions {
            name: name.to_owned(),
            keep_logs_in: logs.clone(),
            progress: Arc::new(|line: &str| println!("{line}")),
            setting: Setting::default(),
        };
        let stack = Stack::start(&options).await.expect("the stack starts");
        let variables = stack.service_variables(0).await.unwrap();
        Self {
            stack,
            target: target(),
            variables,
            skus: [Sku {
                id: "s1".to_owned(),
                stock: 10,
            }],
            logs,
        }
    }

    pub async fn stop(self) {
        self.stack.stop().await;
        std::fs::remove_dir_all(self.logs).unwrap();
    }

    /// As the service connects: with its account, through its link.
    pub async fn connect(&self) -> Result<MySqlConnection, sqlx::Error> {
        MySqlConnection::connect(&self.variables["mysql_url"]).await
    }

    /// Injects the fault and heals it as soon as `effect` has been seen, the way an interrupted run does.
    pub async fn during<T>(
        &self,
        fault: Fault,
        effect: impl Future<Output = T>,
    ) -> (FaultEvent, T) {
        let (bitten, healing) = (AtomicBool::new(false), AtomicBool::new(false));
        let tell = |event: &FaultEvent| {
            println!("{}", event.news());
            bitten.store(event.receipt.is_some(), Ordering::Relaxed);
        };
        let watch = async {
            let seen = effect.await;
            let begun = Instant::now();
            while !bitten.load(Ordering::Relaxed) && begun.elapsed() < SOON {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            healing.store(true, Ordering::Relaxed);
            seen
        };
        tokio::join!(self.run(fault, LONG_MS, &healing, &tell), watch)
    }

    /// Injects the fault with nobody about whom it could hurt, and heals it soon.
    pub async fn unnoticed(&self, fault: Fault) -> FaultEvent {
        let never = AtomicBool::new(false);
        self.run(fault, 200, &never, &|event| println!("{}", event.news()))
            .await
    }

    async fn run(
        &self,
        fault: Fault,
        for_ms: u64,
        cancel: &AtomicBool,
        tell: &(dyn Fn(&FaultEvent) + Sync),
    ) -> FaultEvent {
        let for_ms = fault.about().heals.then_some(for_ms);
        let planned = [PlannedFault {
            at_ms: 0,
            for_ms,
            fault,
        }];
        let site = Site {
            stack: &self.stack,
            target: &self.target,
            variables: &self.variables,
            skus: &self.skus,
        };
        let timeline = Timeline {
            epoch: &FaultEpoch::default(),
            clock: Instant::now(),
            cancel,
            tell,
        };
        let event = faults::run(&planned, site, timeline).await.remove(0);
        println!("{event:#?}");
        event
    }
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

fn target() -> Target {
    Target {
        state: StateQueries {
            orders: "SELECT buyer FROM baskets".to_owned(),
            stock_lock: "SELECT available FROM stock WHERE sku = '{sku}' FOR UPDATE".to_owned(),
            poison: Some(Poison {
                table: "baskets".to_owned(),
                when: "NEW.buyer % {one_in} = 0".to_owned(),
            }),
            cache_available: words("HGET fs:{{{sku}}}:stock available"),
            ..StateQueries::default()
        },
        ..Target::default()
    }
}

/// It bit, it is healed, and nothing went wrong; returns the receipt.
pub fn healed(event: &FaultEvent) -> &str {
    assert_eq!(event.error, None);
    assert!(event.healed_at_ms.is_some());
    event.receipt.as_deref().expect("a receipt")
}

/// No evidence, and the reason names what is missing; healed all the same.
pub fn without_receipt(event: &FaultEvent, missing: &str) {
    assert_eq!(event.receipt, None);
    let error = event.error.as_deref().expect("a reason");
    assert!(error.contains(missing), "{error}");
    assert!(event.healed_at_ms.is_some());
}
