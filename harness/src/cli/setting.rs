//! What the servers run as and what stands on their links, as asked for on the command line.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};

use super::exit::Exit;
use crate::environment::{Endpoints, Environment, Setting};
use crate::proxy::ProxyKind;

#[derive(Debug, Args)]
pub struct SettingArgs {
    /// What the servers run as. Images: the official ones, those of `make images`, or FLASHDRILL_IMAGE_REDIS, _MYSQL,
    /// _ROCKETMQ, _TOXIPROXY.
    #[arg(long = "env", value_enum, default_value_t)]
    environment: Choice,
    /// The fault proxy on all links [default: built-in; with --env container: toxiproxy]
    #[arg(long, value_enum)]
    proxy: Option<ProxyKind>,
    /// Where the servers are, and what may be done to them (see drills/endpoints/example.toml)
    #[arg(long, value_name = "FILE", required_if_eq("environment", "attach"))]
    endpoints: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Choice {
    /// Processes of this machine's own programs.
    #[default]
    Native,
    /// Docker containers on the host's network, loopback only.
    Container,
    /// Servers that run already, as the --endpoints file tells.
    Attach,
}

impl SettingArgs {
    /// # Errors
    /// The exit code, after what does not fit together, or all that is wrong with the endpoints file, was printed.
    pub fn read(&self) -> Result<Setting, Exit> {
        let environment = match (self.environment, &self.endpoints) {
            (Choice::Native, None) => Environment::Native,
            (Choice::Container, None) => Environment::Container,
            (Choice::Attach, Some(file)) => self.attach(file)?,
            (Choice::Attach, None) => {
                return Err(Exit::usage(&"--env attach needs --endpoints FILE"));
            }
            (_, Some(_)) => return Err(Exit::usage(&"--endpoints goes with --env attach only")),
        };
        Ok(Setting {
            environment,
            proxy: self.proxy,
        })
    }

    fn attach(&self, file: &Path) -> Result<Environment, Exit> {
        if self.proxy == Some(ProxyKind::Toxiproxy) {
            return Err(Exit::usage(
                &"--env attach has the built-in proxy on its links",
            ));
        }
        let endpoints = Endpoints::read(file).map_err(|wrong| Exit::usage(&wrong))?;
        Ok(Environment::Attached(Arc::new(endpoints)))
    }
}
