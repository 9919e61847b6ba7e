//! Labels that say whose a container is, and the sweep of those whose owner is gone. A live owner's are never touched.

use std::collections::HashMap;
use std::time::Duration;

use nix::unistd::geteuid;
use serde::{Deserialize, Serialize};
use testcontainers::bollard::Docker;
use testcontainers::bollard::models::ContainerSummary;
use testcontainers::bollard::query_parameters::{
    ListContainersOptionsBuilder, RemoveContainerOptionsBuilder,
};
use testcontainers::core::client::docker_client_instance;

use super::super::owner::Owner;
use super::super::procfs::boot_id;

const OWNER: &str = "org.flashdrill.owner";
const RUN: &str = "org.flashdrill.run";
const COMPONENT: &str = "org.flashdrill.component";
/// A sweep must not hold up a start for longer because an engine is stuck.
const SWEEP_TIMEOUT: Duration = Duration::from_secs(20);

/// Who started a container, also for other users and after a boot; the label's value is its JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Starter {
    uid: u32,
    boot_id: String,
    process: Owner,
}

impl Starter {
    fn me() -> Self {
        Self {
            uid: geteuid().as_raw(),
            boot_id: boot_id(),
            process: Owner::this(),
        }
    }

    /// Another user's processes may be hidden from us: theirs are not ours to judge.
    fn is_ours_and_gone(&self) -> bool {
        let is_ours = self.uid == geteuid().as_raw();
        is_ours && (self.boot_id != boot_id() || !self.process.is_alive())
    }
}

/// What a container of this process carries.
pub(crate) fn labels(run: &str, component: &str) -> [(&'static str, String); 3] {
    let starter = serde_json::to_string(&Starter::me()).expect("plain fields always serialise");
    [
        (OWNER, starter),
        (RUN, run.to_owned()),
        (COMPONENT, component.to_owned()),
    ]
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
    let Ok(docker) = docker_client_instance().await else {
        return Vec::new();
    };
    let Ok(all) = tokio::time::timeout(SWEEP_TIMEOUT, labelled(&docker)).await else {
        tracing::warn!("the Docker engine does not answer: its containers were not looked at");
        return Vec::new();
    };
    let me = Starter::me();
    let ours = all.iter().filter(|container| {
        serde_json::from_str(label(container, OWNER)).is_ok_and(|one: Starter| one == me)
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
    let starter = serde_json::from_str::<Starter>(label(container, OWNER));
    starter.is_ok_and(|starter| starter.is_ours_and_gone())
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
        let me = Starter::me();
        let mut earlier = me.clone();
        earlier.process = Owner::parse(&format!("{}.1", std::process::id())).unwrap();
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
        for (starter, gone) in cases {
            assert_eq!(starter.is_ours_and_gone(), gone, "{starter:?}");
        }
    }
}
