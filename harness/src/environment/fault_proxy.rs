//! The fault proxy on the stack's links: the built-in one in this process, or a Toxiproxy server beside the others.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use super::error::EnvironmentError;
use super::launcher::Launcher;
use super::ports::free_port;
use super::procfs;
use super::readiness::wait_until;
use super::server::{Program, Server, ServerSpec};
use crate::proxy::{ProxyClient, ProxyKind, ProxyOptions, ProxyServer};

/// Seed of the proxy's dice until a drill's faults bring their own.
const SEED: u64 = 0;
const COMPONENT: &str = "toxiproxy";
const READY_TIMEOUT: Duration = Duration::from_secs(20);

#[derive(Debug)]
pub(crate) enum FaultProxy {
    BuiltIn(ProxyServer),
    Toxiproxy {
        server: Arc<Server>,
        api: SocketAddr,
    },
}

impl FaultProxy {
    pub async fn start(
        launcher: &Arc<Launcher>,
        kind: ProxyKind,
    ) -> Result<Self, EnvironmentError> {
        match kind {
            ProxyKind::BuiltIn => Ok(Self::BuiltIn(ProxyServer::start_with(ProxyOptions {
                listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
                seed: SEED,
                allow: launcher.place.allowed(),
            })?)),
            ProxyKind::Toxiproxy => super::with_fresh_ports(|| toxiproxy(launcher)).await,
        }
    }

    pub fn kind(&self) -> ProxyKind {
        match self {
            Self::BuiltIn(_) => ProxyKind::BuiltIn,
            Self::Toxiproxy { .. } => ProxyKind::Toxiproxy,
        }
    }

    /// Its REST API.
    pub fn address(&self) -> SocketAddr {
        match self {
            Self::BuiltIn(proxy) => proxy.address(),
            Self::Toxiproxy { api, .. } => *api,
        }
    }

    pub fn client(&self) -> ProxyClient {
        ProxyClient::new(self.address())
    }

    /// Product and version.
    pub async fn version(&self) -> Result<String, EnvironmentError> {
        let version = self.client().version().await?;
        Ok(match self {
            Self::BuiltIn(_) => format!("built-in, Toxiproxy API {version}"),
            Self::Toxiproxy { .. } => format!("Toxiproxy {version}"),
        })
    }

    /// CPU time so far, milliseconds: its own, and how much of that this process's includes.
    pub fn cpu_ms(&self) -> (u64, u64) {
        match self {
            Self::BuiltIn(proxy) => {
                let used = procfs::thread_cpu_ms(proxy.thread_id()).unwrap_or(0);
                (used, used)
            }
            Self::Toxiproxy { server, .. } => (server.cpu_ms().unwrap_or(0), 0),
        }
    }

    /// None when it is part of this process.
    pub fn server(&self) -> Option<&Arc<Server>> {
        match self {
            Self::BuiltIn(_) => None,
            Self::Toxiproxy { server, .. } => Some(server),
        }
    }
}

async fn toxiproxy(launcher: &Arc<Launcher>) -> Result<FaultProxy, EnvironmentError> {
    let port = free_port()?;
    let api = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let spec = ServerSpec {
        component: COMPONENT.to_owned(),
        program: Program::Toxiproxy,
        args: vec!["-host=127.0.0.1".to_owned(), format!("-port={port}")],
        env: [].into(),
        dir: launcher.folder.make(COMPONENT)?,
        log: launcher.log_file(COMPONENT),
        port,
    };
    let server = Server::start(launcher, spec).await?;
    let client = ProxyClient::new(api);
    wait_until(&server, READY_TIMEOUT, || async {
        client.version().await.map_err(|e| e.to_string())
    })
    .await?;
    Ok(FaultProxy::Toxiproxy { server, api })
}
