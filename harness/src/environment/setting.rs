//! What the servers run as, and what stands on their links.

use std::sync::Arc;

use super::endpoints::{Endpoints, Located};
use super::engine::Engine;
use super::error::EnvironmentError;
use super::launcher::Place;
use super::links::Layout;
use super::server::Program;
use super::volume;
use crate::proxy::ProxyKind;

/// The default is native in every case: a run that moved into containers because an engine happens to answer would
/// measure something else than the run before.
#[derive(Debug, Clone, Default)]
pub struct Setting {
    pub environment: Environment,
    /// The fault proxy on all links; None: built-in, but Toxiproxy with containers.
    pub proxy: Option<ProxyKind>,
}

#[derive(Debug, Clone, Default)]
pub enum Environment {
    /// Processes of this machine's own programs.
    #[default]
    Native,
    /// Docker containers on the host's network, loopback only.
    Container,
    /// Servers that somebody else runs.
    Attached(Arc<Endpoints>),
}

impl Setting {
    pub fn proxy(&self) -> ProxyKind {
        let default = match self.environment {
            Environment::Native | Environment::Attached(_) => ProxyKind::BuiltIn,
            Environment::Container => ProxyKind::Toxiproxy,
        };
        self.proxy.unwrap_or(default)
    }

    /// Whether a fault can mount a small file system where the servers see it: containers have mounts of their own, and
    /// others' servers may be anywhere.
    pub fn can_mount(&self) -> bool {
        matches!(self.environment, Environment::Native) && volume::may_mount()
    }

    /// Somebody else's servers; None: they are ours.
    pub fn endpoints(&self) -> Option<&Arc<Endpoints>> {
        match &self.environment {
            Environment::Attached(endpoints) => Some(endpoints),
            Environment::Native | Environment::Container => None,
        }
    }

    /// The links there will be.
    pub fn layout(&self) -> Layout {
        let proxy = self.proxy();
        match self.endpoints() {
            None => Layout {
                proxy,
                ..Layout::OURS
            },
            Some(endpoints) => Layout {
                redis_nodes: endpoints.redis.len(),
                has_replica: endpoints.mysql.replica_url.is_some(),
                is_ours: false,
                proxy,
            },
        }
    }

    /// # Errors
    /// Everything that is missing: programs, or the engine, or images.
    pub(crate) async fn place(&self, say: impl Fn(&str)) -> Result<Place, EnvironmentError> {
        match &self.environment {
            Environment::Native => Place::native(),
            Environment::Container => {
                let mut programs = vec![Program::Redis, Program::Mysql, Program::Java];
                if self.proxy() == ProxyKind::Toxiproxy {
                    programs.push(Program::Toxiproxy);
                }
                Ok(Place::Containers(
                    Engine::with_images(&programs, say).await?,
                ))
            }
            Environment::Attached(endpoints) => Ok(Place::Attached(Located::of(endpoints).await?)),
        }
    }
}
