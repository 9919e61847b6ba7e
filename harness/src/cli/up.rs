//! `flashdrill up`: keeps a stack up to be broken by hand, until Ctrl-C.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::signal::unix::{SignalKind, signal};

use crate::environment::{EnvironmentError, Stack, StackOptions};

/// Starts a stack, prints its addresses, and stops it at Ctrl-C or SIGTERM.
///
/// # Errors
/// The stack did not start.
pub async fn run(keep_logs_in: PathBuf) -> Result<(), EnvironmentError> {
    let progress = Arc::new(|line: &str| eprintln!("{line}"));
    let options = StackOptions {
        name: "up".to_owned(),
        keep_logs_in,
        progress,
    };
    let Some(stack) = unless_told_to_stop(Stack::start(&options))
        .await
        .transpose()?
    else {
        return Ok(());
    };
    println!("{}", describe(&stack));
    unless_told_to_stop(std::future::pending::<()>()).await;
    eprintln!("stopping");
    stack.stop().await;
    Ok(())
}

/// None when a signal came first; the work is dropped then, which cleans up behind itself.
async fn unless_told_to_stop<T>(work: impl Future<Output = T>) -> Option<T> {
    let (Ok(mut interrupt), Ok(mut terminate)) = (
        signal(SignalKind::interrupt()),
        signal(SignalKind::terminate()),
    ) else {
        return Some(work.await);
    };
    tokio::select! {
        done = work => Some(done),
        _ = interrupt.recv() => None,
        _ = terminate.recv() => None,
    }
}

/// What a person needs to use and to break the stack.
fn describe(stack: &Stack) -> String {
    let mut text = String::from("Servers:\n");
    for (name, version) in stack.versions() {
        let _ = writeln!(text, "  {name:<20}{version}");
    }
    text.push_str("For a service (behind the fault proxy):\n");
    for (name, value) in stack.variables() {
        let _ = writeln!(text, "  {name:<20}{value}");
    }
    text.push_str("Direct, past the proxy:\n");
    for node in &stack.redis.nodes {
        let _ = writeln!(
            text,
            "  {:<20}{} pid {:?}",
            node.name(),
            node.address(),
            node.process.pid()
        );
    }
    let _ = writeln!(text, "  {:<20}{}", "mysql", stack.mysql.url());
    let _ = writeln!(
        text,
        "  {:<20}{}",
        "rocketmq-broker", stack.rocketmq.broker_address
    );
    let _ = write!(
        text,
        "Faults (Toxiproxy's API): http://{}/proxies\nCtrl-C stops everything.",
        stack.proxy_address()
    );
    text
}
