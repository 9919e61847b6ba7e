//! Labels that say whose a container is, and the sweep of those whose owner is gone. A live owner's are never touched.

use std::collections::HashMap;
use std::io;
use std::time::Duration;

use nix::unistd::geteuid;
use serde::{Deserialize, Serialize};
use testcontainers::bollard::Docker;
use testcontainers::bollard::models::ContainerSummary;
use testcontainers::bollard::query_parameters::{
    ListContainersOptionsBuilder, RemoveContainerOptionsBuilder,
};
use testcontainers::core::client::docker_client_instance;

use super::super::procfs::{ProcessId, boot_id};

const OWNER: &str = "org.flashdrill.owner";
const RUN: &str = "org.flashdrill.run";
const COMPONENT: &str = "org.flashdrill.component";
/// A sweep must not hold up a start for longer because an engine is stuck.
const SWEEP_TIMEOUT: Duration = Duration::from_secs(20);

/// The process that started a container; label values are its JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Owner {
    uid: u32,
    boot_id: String,
    process: ProcessId,
}

impl Owner {
    fn me() -> io::Result<Self> {
        Ok(Self {
            uid: geteuid().as_raw(),
            boot_id: boot_id(),
            process: ProcessId::of(std::process::id())?,
        })
    }

    /// Another user's processes may be hidden from us: theirs are not ours to judge.
    fn is_ours_and_gone(&self) -> bool {
        let is_ours = self.uid == geteuid().as_raw();
        is_ours && (self.boot_id != boot_id() || !self.process.is_alive())
    }
}

/// # Errors
/// Our own entry in /proc cannot be read.
pub(crate) fn labels(run: &str, component: &str) -> io::Result<[(&'static str, String); 3]> {
    let owner = serde_json::to_string(&Owner::me()?)?;
    Ok([
        (OWNER, owner),
        (RUN, run.to_owned()),
        (COMPONENT, component.to_owned()),
    ])
}

/// Removes containers of dead owners, running or not; returns `component (container)` of each. Without an engine there
/// are none.
pub(crate) async fn sweep() -> Vec<String> {
    let Ok(docker) = docker_client_instance().await else {
        return Vec::new();
    };
    match tokio::time::timeout(SWEEP_TIMEOUT, sweep_engine(&docker)).await {
        Ok(swept) => swept,
        Err(_) => {
            tracing::warn!("the Docker engine does not answer: its containers were not swept");
            Vec::new()
        }
    }
}

/// `component (container)` of this process's containers, running or not.
pub(crate) async fn containers_left() -> Vec<String> {
    let (Ok(docker), Ok(me)) = (docker_client_instance().await, Owner::me()) else {
        return Vec::new();
    };
    let Ok(all) = tokio::time::timeout(SWEEP_TIMEOUT, labelled(&docker)).await else {
        tracing::warn!("the Docker engine does not answer: its containers were not looked at");
        return Vec::new();
    };
    let ours = all.iter().filter(|container| {
        serde_json::from_str(label(container, OWNER)).is_ok_and(|owner: Owner| owner == me)
    });
    ours.map(name).collect()
}

/// All that carry our label, whoever the owner is.
async fn labelled(docker: &Docker) -> Vec<ContainerSummary> {
    let ours = HashMap::from([("label", vec![OWNER])]);
    let options = ListContainersOptionsBuilder::new().all(true).filters(&ours);
    let containers = docker.list_containers(Some(options.build())).await;
    containers.unwrap_or_default()
}

fn name(container: &ContainerSummary) -> String {
    let id = container.id.as_deref().unwrap_or_default();
    let short = id.get(..12).unwrap_or(id);
    format!("{} ({short})", label(container, COMPONENT))
}

async fn sweep_engine(docker: &Docker) -> Vec<String> {
    let mut swept = Vec::new();
    for container in labelled(docker).await {
        let (Some(id), true) = (&container.id, is_abandoned(&container)) else {
            continue;
        };
        let force = RemoveContainerOptionsBuilder::new().force(true).v(true);
        match docker.remove_container(id, Some(force.build())).await {
            Ok(()) => swept.push(name(&container)),
            // Another sweep may have been quicker.
            Err(error) => tracing::debug!(id, %error, "not removed"),
        }
    }
    swept
}

fn is_abandoned(container: &ContainerSummary) -> bool {
    let owner = serde_json::from_str::<Owner>(label(container, OWNER));
    owner.is_ok_and(|owner| owner.is_ours_and_gone())
}

fn label<'c>(container: &'c ContainerSummary, name: &str) -> &'c str {
    let labels = container.labels.as_ref();
    labels
        .and_then(|labels| labels.get(name))
        .map_or("", String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_dead_owners_are_gone() {
        let me = Owner::me().unwrap();
        let mut earlier = me.clone();
        earlier.process.started_ticks -= 1;
        let mut of_another_boot = me.clone();
        of_another_boot.boot_id = "earlier".to_owned();
        let mut of_another_user = earlier.clone();
        of_another_user.uid += 1;
        let cases = [
            (me, false),
            (earlier, true),
            (of_another_boot, true),
            (of_another_user, false),
        ];
        for (owner, gone) in cases {
            assert_eq!(owner.is_ours_and_gone(), gone, "{owner:?}");
        }
    }
}
