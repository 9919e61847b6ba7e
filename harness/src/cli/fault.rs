//! `flashdrill fault`: what can be broken; break and heal a stack that `flashdrill up` keeps.

use std::fmt::Write as _;

use clap::{Args, Subcommand};
use serde_json::{Map, Value};

use super::exit::Exit;
use crate::environment::{LiveRun, live_runs};
use crate::faults::{About, Fault};
use crate::live::{Client, ClientError, LiveFault};

#[derive(Debug, Subcommand)]
pub enum FaultCommand {
    /// List the kinds of fault, or show one with its keys.
    List {
        /// A kind, such as broker_kill.
        kind: Option<String>,
    },
    /// Break a stack that `flashdrill up` keeps.
    Inject(InjectArgs),
    /// Heal a fault that was injected by hand, or all of them.
    Heal {
        /// Its number, as `fault inject` and `ps` print it; without one, all.
        id: Option<u32>,
        /// Name of the stack, when more than one is up; `ps` shows them.
        #[arg(long)]
        run: Option<String>,
    },
}

#[derive(Debug, Args)]
#[command(after_help = "\
For example:  flashdrill fault inject broker_kill for_ms=5000
              flashdrill fault list broker_kill
Without for_ms the fault stays until `flashdrill fault heal`. Values are written as in a drill file.")]
pub struct InjectArgs {
    /// A kind of `fault list`.
    kind: String,
    /// Its keys, each as key=value; for_ms is one of every kind that heals.
    #[arg(value_name = "KEY=VALUE")]
    keys: Vec<String>,
    /// Name of the stack, when more than one is up; `ps` shows them.
    #[arg(long)]
    run: Option<String>,
}

/// Runs the command.
pub async fn run(command: FaultCommand) -> Exit {
    match command {
        FaultCommand::List { kind } => list(kind.as_deref()),
        FaultCommand::Inject(args) => match keys(&args) {
            Ok(keys) => inject(args.run.as_deref(), &keys).await,
            Err(wrong) => Exit::usage(&wrong),
        },
        FaultCommand::Heal { id, run } => heal(run.as_deref(), id).await,
    }
}

fn list(kind: Option<&str>) -> Exit {
    let Some(kind) = kind else {
        for about in Fault::KINDS {
            say!("{:<24}{}", about.kind, first_sentence(about.summary));
        }
        say!("\n`flashdrill fault list KIND` shows the keys of one.");
        return Exit::Pass;
    };
    match Fault::KINDS.iter().find(|about| about.kind == kind) {
        Some(about) => {
            say!("{}", manual(about));
            Exit::Pass
        }
        None => Exit::usage(&format!(
            "there is no kind `{kind}`; `flashdrill fault list` shows them"
        )),
    }
}

fn first_sentence(text: &str) -> &str {
    text.trim().split(['.', ';']).next().unwrap_or_default()
}

/// A kind with its keys, as a page.
fn manual(about: &About) -> String {
    let mut text = format!("{}: {}\n", about.kind, about.summary.trim());
    for key in about.keys {
        let default = key.default.map_or_else(
            || "required".to_owned(),
            |value| format!("default {}", value()),
        );
        let _ = write!(text, "\n  {:<24}{} ({default})", key.name, key.help.trim());
    }
    if about.heals {
        text.push_str(
            "\n  for_ms                  From the injection to the heal, ms (in a drill: required)",
        );
    }
    for need in about.needs {
        let _ = write!(text, "\nNeeds {need}.");
    }
    text
}

/// The arguments as the map that a drill file would hold.
fn keys(args: &InjectArgs) -> Result<Value, String> {
    let mut map = Map::new();
    map.insert("kind".to_owned(), args.kind.clone().into());
    let mut wrong = String::new();
    for pair in &args.keys {
        match pair.split_once('=') {
            Some((key, text)) => drop(map.insert(key.to_owned(), value(text))),
            None => drop(write!(wrong, "\n  `{pair}` is no KEY=VALUE")),
        }
    }
    if wrong.is_empty() {
        return Ok(map.into());
    }
    Err(format!("wrong arguments:{wrong}"))
}

/// A number, list or truth value of TOML; anything else is text, which then needs no quotes.
fn value(text: &str) -> Value {
    let line = format!("value = {text}");
    let parsed = toml::from_str::<Map<String, Value>>(&line).ok();
    parsed
        .and_then(|mut map| map.remove("value"))
        .unwrap_or_else(|| text.into())
}

async fn inject(run: Option<&str>, keys: &Value) -> Exit {
    let client = match keeper(run) {
        Ok(client) => client,
        Err(exit) => return exit,
    };
    match client.inject(keys).await {
        Ok(fault) => told(&fault),
        Err(error) => refused(&error),
    }
}

fn told(fault: &LiveFault) -> Exit {
    let LiveFault { id, event, over } = fault;
    if !event.what.is_empty() {
        say!("#{id} {}", event.what);
    }
    if let Some(receipt) = &event.receipt {
        say!("bit: {receipt}");
    }
    if let Some(error) = &event.error {
        return Exit::unavailable(error);
    }
    if event.receipt.is_none() && event.error.is_none() {
        say!("no proof yet that it bites: `flashdrill ps` shows it when there is some");
    }
    if event.heals && !over {
        say!("heal it: flashdrill fault heal {id}");
    }
    Exit::Pass
}

async fn heal(run: Option<&str>, id: Option<u32>) -> Exit {
    let client = match keeper(run) {
        Ok(client) => client,
        Err(exit) => return exit,
    };
    let healed = match client.heal(id).await {
        Ok(healed) => healed,
        Err(error) => return refused(&error),
    };
    if healed.is_empty() {
        say!("nothing is broken");
    }
    let mut exit = Exit::Pass;
    for LiveFault { id, event, .. } in healed {
        say!("#{id} {}", event.news());
        if event.heals && event.healed_at_ms.is_none() {
            exit = Exit::Unavailable;
        }
    }
    exit
}

fn refused(error: &ClientError) -> Exit {
    match error {
        ClientError::Refused(_) => Exit::usage(error),
        ClientError::Call(_) => Exit::unavailable(error),
    }
}

/// The keeper of the stack that is up, by name when there are several.
fn keeper(name: Option<&str>) -> Result<Client, Exit> {
    let mut keepers = Vec::new();
    for run in live_runs() {
        if name.is_none_or(|name| name == run.name)
            && let Some(client) = Client::of(&run.folder).map_err(|error| Exit::internal(&error))?
        {
            keepers.push((run, client));
        }
    }
    match (keepers.len(), keepers.pop()) {
        (1, Some((_, client))) => Ok(client),
        (0, _) => Err(Exit::unavailable(&match name {
            Some(name) => format!("no stack {name} is up; `flashdrill ps` shows those that are"),
            None => "no stack is up: `flashdrill up` starts one, in another terminal".to_owned(),
        })),
        (_, last) => Err(Exit::usage(&several(keepers.into_iter().chain(last)))),
    }
}

fn several(keepers: impl Iterator<Item = (LiveRun, Client)>) -> String {
    let names: Vec<String> = keepers.map(|(run, _)| run.name).collect();
    format!(
        "several stacks are up: choose one with --run ({})",
        names.join(", ")
    )
}
