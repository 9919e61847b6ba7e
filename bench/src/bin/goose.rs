//! Our request as a load test with Goose. Takes Goose's own flags; prints the latencies as lines that
//! `flashbench` reads.

use std::process::ExitCode;

use flashbench::request::{BODY, CONTENT_TYPE, PATH, PERCENTS};
use goose::metrics::GooseMetrics;
use goose::prelude::*;

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return failed(&error),
    };
    match runtime.block_on(attack()) {
        Ok(metrics) => {
            print_latencies(&metrics);
            ExitCode::SUCCESS
        }
        Err(error) => failed(&error),
    }
}

fn failed(error: &dyn std::fmt::Display) -> ExitCode {
    eprintln!("flashbench-goose: {error}");
    ExitCode::FAILURE
}

async fn attack() -> Result<GooseMetrics, GooseError> {
    let buyers = scenario!("buyers").register_transaction(transaction!(buy));
    GooseAttack::initialize()?
        .register_scenario(buyers)
        .execute()
        .await
}

async fn buy(user: &mut GooseUser) -> TransactionResult {
    let request = user
        .get_request_builder(&GooseMethod::Post, PATH)?
        .header("Content-Type", CONTENT_TYPE)
        .body(BODY);
    let request = GooseRequest::builder()
        .method(GooseMethod::Post)
        .path(PATH)
        .set_request_builder(request)
        .build();
    let answer = user.request(request).await?;
    if let Ok(response) = answer.response {
        // A connection is used again only when its answer was read; Goose has counted a failure already.
        let _ = response.bytes().await;
    }
    Ok(())
}

/// Goose keeps times in buckets less than 1 % wide; the lower end is printed.
fn print_latencies(metrics: &GooseMetrics) {
    let mut buckets: Vec<(u64, usize)> = metrics
        .requests
        .values()
        .flat_map(|request| request.raw_data.times_us.iter())
        .map(|(us, count)| (*us, *count))
        .collect();
    buckets.sort_unstable();
    let all: usize = buckets.iter().map(|(_, count)| count).sum();
    for percent in PERCENTS {
        let rank = (percent / 100.0 * all as f64).ceil() as usize;
        let mut seen = 0;
        let found = buckets.iter().find(|(_, count)| {
            seen += count;
            seen >= rank
        });
        if let Some((us, _)) = found {
            println!("latency_us {percent} {us}");
        }
    }
}
