//! A server's data folder, configuration and start.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use nix::unistd::geteuid;

use super::super::config;
use super::super::error::EnvironmentError;
use super::super::launcher::Launcher;
use super::super::ports::free_port;
use super::super::run_folder::file_error;
use super::super::server::{Program, Server, ServerSpec};

const INSTALL_TIMEOUT: Duration = Duration::from_secs(60);

/// What the servers of a stack differ in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Primary,
    Replica,
}

impl Role {
    pub(super) fn component(self) -> &'static str {
        match self {
            Self::Primary => "mysql",
            Self::Replica => "mysql-replica",
        }
    }

    /// `{server_id}`, `{read_only}` and `{flush}` of `my.cnf`.
    fn settings(self) -> [&'static str; 3] {
        match self {
            Self::Primary => ["1", "OFF", "1"],
            // It can be made anew from the primary: flushed once a second, it leaves the disk to the orders.
            Self::Replica => ["2", "ON", "2"],
        }
    }
}

/// The server's folder, with what it wants to find there.
pub(super) fn folder(launcher: &Launcher, role: Role) -> Result<PathBuf, EnvironmentError> {
    let dir = launcher.folder.make(role.component())?;
    launcher.folder.make(&format!("{}/tmp", role.component()))?;
    let init = dir.join("init.sql");
    fs::write(&init, config::MYSQL_INIT).map_err(|source| file_error("write", &init, source))?;
    Ok(dir)
}

/// Starts the server at an address of its own, which is returned; does not wait for it.
pub(super) async fn launch(
    launcher: &Arc<Launcher>,
    role: Role,
    dir: &Path,
) -> Result<(Arc<Server>, SocketAddr), EnvironmentError> {
    let (component, port) = (role.component(), free_port()?);
    let file = dir.join("my.cnf");
    let [server_id, read_only, flush] = role.settings();
    let values = [
        ("dir", dir.display().to_string()),
        ("port", port.to_string()),
        ("server_id", server_id.to_owned()),
        ("read_only", read_only.to_owned()),
        ("flush", flush.to_owned()),
    ];
    config::write(config::MYSQL, &values, &file)?;
    if !dir.join("data").join("mysql").exists() {
        initialise(launcher, component, dir, &file).await?;
    }
    let spec = spec(launcher, component, Program::Mysql, dir, &file);
    let server = Server::start(launcher, ServerSpec { port, ..spec }).await?;
    Ok((server, SocketAddr::from((Ipv4Addr::LOCALHOST, port))))
}

fn spec(
    launcher: &Launcher,
    component: &str,
    program: Program,
    dir: &Path,
    defaults: &Path,
) -> ServerSpec {
    let mut args = vec![format!("--defaults-file={}", defaults.display())];
    args.extend(root_argument());
    ServerSpec {
        component: component.to_owned(),
        program,
        args,
        env: [("TMPDIR".to_owned(), dir.join("tmp").display().to_string())].into(),
        dir: dir.to_owned(),
        log: launcher.log_file(component),
        port: 0,
    }
}

/// The server refuses to run as root unless told, and must not change its user: that would clear
/// its parent-death signal.
fn root_argument() -> Option<String> {
    geteuid().is_root().then(|| "--user=root".to_owned())
}

/// Makes the system tables.
async fn initialise(
    launcher: &Arc<Launcher>,
    component: &str,
    dir: &Path,
    defaults: &Path,
) -> Result<(), EnvironmentError> {
    let (program, options): (_, &[&str]) = match launcher.mariadb_install() {
        Some(install) => (
            Program::Path(install.to_owned()),
            &["--auth-root-authentication-method=normal", "--skip-test-db"],
        ),
        None => (Program::Mysql, &["--initialize-insecure"]),
    };
    let name = format!("{component}-install");
    let mut spec = spec(launcher, &name, program, dir, defaults);
    spec.args.extend(options.iter().map(|&o| o.to_owned()));
    let install = Server::start(launcher, spec).await?;
    let failed = |reason| {
        let reason = format!("{reason}; {}", install.log_tail());
        EnvironmentError::step(component, "making its data folder", reason)
    };
    match install.ended(INSTALL_TIMEOUT).await {
        Some(ending) if ending.is_success() => launcher.folder.forget(&name),
        Some(ending) => Err(failed(ending.to_string())),
        None => Err(failed(format!("not done after {INSTALL_TIMEOUT:?}"))),
    }
}
