//! The ways to Redis.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;

use super::servers::{Program, call, free_address};
use crate::cpu;
use crate::scratch::Scratch;
use crate::tool::program;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Direct,
    /// `flashdrill proxy`.
    BuiltIn,
    /// The same, while it reads the Redis protocol for cut points.
    BuiltInFollowing,
    /// `toxiproxy-server`.
    Toxiproxy,
}

/// A way that can be gone, and the proxy on it.
#[derive(Debug)]
pub struct Open {
    pub address: SocketAddr,
    proxy: Option<Program>,
}

impl Open {
    /// `None` without a proxy.
    pub fn cpu_us(&self) -> io::Result<Option<f64>> {
        let used = self.proxy.as_ref().map(|proxy| cpu::used_us(proxy.pid()));
        used.transpose()
    }
}

impl Way {
    pub const ALL: [Self; 4] = [
        Self::Direct,
        Self::BuiltIn,
        Self::BuiltInFollowing,
        Self::Toxiproxy,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::BuiltIn => "flashdrill proxy",
            Self::BuiltInFollowing => "flashdrill proxy, following RESP",
            Self::Toxiproxy => "Toxiproxy",
        }
    }

    fn program(self) -> Option<PathBuf> {
        match self {
            Self::Direct => None,
            Self::BuiltIn | Self::BuiltInFollowing => program::beside_us("flashdrill"),
            Self::Toxiproxy => program::on_path("toxiproxy-server"),
        }
    }

    /// `None` when it is not installed.
    pub fn version(self) -> Option<String> {
        let argument = match self {
            Self::Direct => return Some(String::new()),
            Self::BuiltIn | Self::BuiltInFollowing => "--version",
            Self::Toxiproxy => "-version",
        };
        let printed = program::printed(&self.program()?, &[argument]);
        Some(program::version_in(&printed))
    }

    pub fn open(self, redis: SocketAddr, scratch: &Scratch) -> io::Result<Open> {
        let Some(program) = self.program() else {
            return Ok(Open {
                address: redis,
                proxy: None,
            });
        };
        let (api, listen) = (free_address()?, free_address()?);
        let mut command = Command::new(program);
        match self {
            Self::Toxiproxy => command
                .args(["-host", &api.ip().to_string()])
                .args(["-port", &api.port().to_string()])
                // It logs each connection otherwise.
                .env("LOG_LEVEL", "error"),
            _ => command.args(["proxy", "--listen", &api.to_string()]),
        };
        let proxy = Program::start(command, api, scratch)?;
        let link = format!(
            r#"{{"name":"redis","listen":"{listen}","upstream":"{redis}","enabled":true}}"#
        );
        call(api, "POST", "/proxies", &link)?;
        if self == Self::BuiltInFollowing {
            call(
                api,
                "PUT",
                "/proxies/redis/protocol",
                r#"{"protocol":"resp"}"#,
            )?;
        }
        Ok(Open {
            address: listen,
            proxy: Some(proxy),
        })
    }
}
