//! What the servers run as, and what stands on their links.

use clap::{Args, ValueEnum};

use super::engine::Engine;
use super::error::EnvironmentError;
use super::launcher::Place;
use super::server::Program;
use super::volume;
use crate::proxy::ProxyKind;

/// Chosen on the command line. The default is native in every case: a run that moved into containers because an engine
/// happens to answer would measure something else than the run before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Args)]
pub struct Setting {
    /// What the servers run as. Images: the official ones, those of `make images`, or FLASHDRILL_IMAGE_REDIS, _MYSQL,
    /// _ROCKETMQ, _TOXIPROXY.
    #[arg(long = "env", value_enum, default_value_t)]
    pub environment: Environment,
    /// The fault proxy on all links [default: built-in; with --env container: toxiproxy]
    #[arg(long, value_enum)]
    pub proxy: Option<ProxyKind>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Environment {
    /// Processes of this machine's own programs.
    #[default]
    Native,
    /// Docker containers on the host's network, loopback only.
    Container,
}

impl Setting {
    pub fn proxy(self) -> ProxyKind {
        let default = match self.environment {
            Environment::Native => ProxyKind::BuiltIn,
            Environment::Container => ProxyKind::Toxiproxy,
        };
        self.proxy.unwrap_or(default)
    }

    /// Whether a fault can mount a small file system where the servers see it: containers have mounts of their own.
    pub fn can_mount(self) -> bool {
        self.environment == Environment::Native && volume::may_mount()
    }

    /// # Errors
    /// Everything that is missing: programs, or the engine, or images.
    pub(crate) async fn place(self, say: impl Fn(&str)) -> Result<Place, EnvironmentError> {
        match self.environment {
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
        }
    }
}
