//! `flashdrill up`: keeps a stack up to be broken by hand, until Ctrl-C.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use super::endpoints;
use super::exit::Exit;
use super::left_behind;
use super::stop_word::StopWord;
use crate::environment::{EnvironmentError, Setting, Stack, StackOptions};
use crate::live::{self, Board, Control};
use crate::target::Target;
use crate::target::template::Variables;

/// Starts a stack, prints its addresses, writes them to `write_endpoints`, and stops it at Ctrl-C or SIGTERM.
///
/// # Errors
/// The stack did not start, or the file cannot be written.
pub async fn run(
    keep_logs_in: PathBuf,
    write_endpoints: Option<&Path>,
    setting: Setting,
) -> Result<Exit, EnvironmentError> {
    let progress = Arc::new(|line: &str| note!("{line}"));
    let options = StackOptions {
        name: "up".to_owned(),
        keep_logs_in,
        progress,
        setting,
    };
    let mut word = StopWord::listen()?;
    let stack = tokio::select! {
        // Dropping a start cleans up behind it.
        () = word.heard() => return Ok(left_behind::look().await.0),
        started = Stack::start(&options) => started?,
    };
    let variables = stack.service_variables(0).await?;
    if let Some(file) = write_endpoints {
        let written = fs::write(file, endpoints::describe(&stack));
        let step = format!("writing {}", file.display());
        written.map_err(|error| EnvironmentError::step("up", &step, error))?;
    }
    say!("{}", describe(&stack, &variables));
    let stack = Arc::new(stack);
    let control = Arc::new(Control {
        stack: Arc::clone(&stack),
        target: Target::default(),
        variables,
        skus: Vec::new(),
        board: Board::default(),
        clock: Instant::now(),
    });
    let folder = stack.scratch().to_owned();
    let ended = tokio::select! {
        () = word.heard() => Ok(()),
        served = live::serve(Arc::clone(&control), &folder) => served,
    };
    note!("stopping");
    control.heal(None).await;
    stack.stop().await;
    drop((control, stack));
    let (exit, _) = left_behind::look().await;
    if let Err(error) = ended {
        return Err(EnvironmentError::step("up", "taking orders", error));
    }
    Ok(exit)
}

/// What a person needs to use and to break the stack.
fn describe(stack: &Stack, variables: &Variables) -> String {
    let mut text = String::from("Servers:\n");
    for (name, version) in stack.versions() {
        let _ = writeln!(text, "  {name:<20}{version}");
    }
    text.push_str("For a service (behind the fault proxy):\n");
    for (name, value) in variables {
        let _ = writeln!(text, "  {name:<20}{value}");
    }
    text.push_str("Direct, past the proxy:\n");
    for node in &stack.redis.nodes {
        let pid = node.server.pid();
        let pid = pid.map_or_else(String::new, |pid| format!(" pid {pid}"));
        let _ = writeln!(text, "  {:<20}{}{pid}", node.name(), node.address());
    }
    for server in stack.mysqls() {
        let _ = writeln!(text, "  {:<20}{}", server.name(), server.url());
    }
    let _ = writeln!(
        text,
        "  {:<20}{}",
        "rocketmq-broker", stack.rocketmq.broker_address
    );
    let _ = write!(
        text,
        "Faults: `flashdrill fault list`, `fault inject`, `fault heal`, `ps` in another terminal; Toxiproxy's \
         API: http://{}/proxies\nCtrl-C stops everything.",
        stack.proxy_address()
    );
    text
}
