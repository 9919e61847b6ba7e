//! The proof that a run left nothing: what is found instead is named.
//!
//! Two scans. The stack's, while it stands between two runs: links, paused servers, changed settings, strange
//! processes. The machine's, when the stack is gone: processes, mounts, folders, ports.

mod host;
mod settings;

use std::fmt;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

pub(super) use settings::{Settings, guarantees, read as read_settings};

use super::engine;
use super::owner::Owner;
use super::run_folder::runs_folder;
use super::stack::Stack;

/// What was just killed may take this long to be gone.
const GRACE: Duration = Duration::from_secs(2);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Something that a run left behind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leftover {
    pub kind: LeftoverKind,
    /// Which one, in words.
    pub what: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeftoverKind {
    Toxic,
    DisabledLink,
    PausedServer,
    Setting,
    Process,
    Container,
    Mount,
    WriteLimit,
    Folder,
    Port,
    /// A scan that could not be made: what it would have found is not known.
    Unknown,
}

impl Leftover {
    pub(crate) fn new(kind: LeftoverKind, what: impl fmt::Display) -> Self {
        Self {
            kind,
            what: what.to_string(),
        }
    }
}

impl fmt::Display for Leftover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            LeftoverKind::Toxic => "toxic",
            LeftoverKind::DisabledLink => "disabled link",
            LeftoverKind::PausedServer => "paused server",
            LeftoverKind::Setting => "changed setting",
            LeftoverKind::Process => "process",
            LeftoverKind::Container => "container",
            LeftoverKind::Mount => "mount",
            LeftoverKind::WriteLimit => "write limit",
            LeftoverKind::Folder => "folder",
            LeftoverKind::Port => "listening port",
            LeftoverKind::Unknown => "not scanned:",
        };
        write!(f, "{kind} {}", self.what)
    }
}

/// `clean_room.json` of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CleanRoom {
    /// Found on the stack when the run was over.
    pub after_run: Vec<Leftover>,
    /// Found on the machine when the stack was gone; None: it stood on, for the next run.
    pub after_stop: Option<Vec<Leftover>>,
}

impl CleanRoom {
    /// Each once, though both scans found it.
    pub fn leftovers(&self) -> impl Iterator<Item = &Leftover> {
        let later = self.after_stop.iter().flatten();
        let new = later.filter(|found| !self.after_run.contains(found));
        self.after_run.iter().chain(new)
    }
}

impl Stack {
    /// What a run that is over has left on the stack, which stands on.
    pub async fn leftovers(&self) -> Vec<Leftover> {
        let mut found = self.broken_links().await;
        for server in self.servers().iter().filter(|server| server.is_paused()) {
            found.push(Leftover::new(
                LeftoverKind::PausedServer,
                server.component(),
            ));
        }
        found.extend(settings::changed(self).await);
        let groups = self.groups();
        let scan = || {
            let mut found = host::processes(Owner::this(), &groups);
            found.extend(host::disk(Owner::this(), &runs_folder()));
            found
        };
        found.extend(settled(scan).await);
        found
    }

    async fn broken_links(&self) -> Vec<Leftover> {
        let views = match self.links.proxies().await {
            Ok(views) => views,
            Err(error) => return vec![Leftover::new(LeftoverKind::Unknown, error)],
        };
        let mut found = Vec::new();
        for (link, view) in views {
            if !view.enabled {
                found.push(Leftover::new(LeftoverKind::DisabledLink, &link));
            }
            let toxics = view.toxics.iter();
            found.extend(toxics.map(|toxic| {
                Leftover::new(LeftoverKind::Toxic, format!("{} on {link}", toxic.name))
            }));
        }
        found
    }
}

/// What this process's stacks have left on the machine, now that all of them are gone.
pub async fn scan_machine() -> Vec<Leftover> {
    let mut found = settled(|| host::scan(Owner::this(), &runs_folder())).await;
    let containers = engine::containers_left().await.into_iter();
    found.extend(containers.map(|name| Leftover::new(LeftoverKind::Container, name)));
    found
}

/// Looks again until nothing is found or it is clear that it stays.
async fn settled(scan: impl Fn() -> Vec<Leftover>) -> Vec<Leftover> {
    let begun = Instant::now();
    loop {
        let found = scan();
        if found.is_empty() || begun.elapsed() > GRACE {
            return found;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}
