//! `flashdrill ps`: the runs that are alive, and what is broken in each.

use super::exit::Exit;
use crate::environment::{LiveRun, ProcessState, live_runs};
use crate::live::Client;
use crate::proxy::ProxyClient;

/// Prints them.
pub async fn run() -> Exit {
    let runs = live_runs();
    if runs.is_empty() {
        say!("nothing runs; `flashdrill clean` removes what a killed run left");
    }
    for run in &runs {
        print(run).await;
    }
    Exit::Pass
}

async fn print(run: &LiveRun) {
    say!("{} (owner {})", run.name, run.owner_pid);
    for server in &run.servers {
        say!(
            "  {:<20}{:<10}{}",
            server.component,
            server.pid,
            name(server.state)
        );
    }
    let mut broken = Vec::new();
    for server in &run.servers {
        if server.state != ProcessState::Running {
            broken.push(format!("{} is {}", server.component, name(server.state)));
        }
    }
    broken.extend(links(run).await);
    broken.extend(faults(run).await);
    if broken.is_empty() {
        say!("  nothing is broken");
    }
    for line in broken {
        say!("  BROKEN {line}");
    }
}

fn name(state: ProcessState) -> &'static str {
    match state {
        ProcessState::Running => "running",
        ProcessState::Paused => "paused",
        ProcessState::Dead => "dead",
    }
}

/// Links that are down or have toxics.
async fn links(run: &LiveRun) -> Vec<String> {
    let Some(api) = run.proxy else {
        return Vec::new();
    };
    let views = match ProxyClient::new(api).proxies().await {
        Ok(views) => views,
        Err(error) => return vec![format!("the fault proxy does not answer: {error}")],
    };
    let mut lines = Vec::new();
    for (name, view) in views {
        if !view.enabled {
            lines.push(format!("link {name} is down"));
        }
        for toxic in view.toxics {
            lines.push(format!("link {name}: {}", toxic.name));
        }
    }
    lines
}

/// Faults that were injected by hand.
async fn faults(run: &LiveRun) -> Vec<String> {
    let asked = match Client::of(&run.folder) {
        Ok(Some(client)) => client.faults().await,
        Ok(None) => return Vec::new(),
        Err(error) => Err(error),
    };
    match asked {
        Ok(faults) => faults
            .into_iter()
            .filter(|fault| !fault.over)
            .map(|fault| format!("#{} {}", fault.id, fault.event.news()))
            .collect(),
        Err(error) => vec![error.to_string()],
    }
}
