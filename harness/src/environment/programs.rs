//! The server programs of this machine: all of them are looked for before anything starts, so that
//! one message names everything that is missing.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::error::{EnvironmentError, MissingProgram};

/// Servers live here, and the PATH of an ordinary user leaves it out.
const SYSTEM_FOLDERS: [&str; 2] = ["/usr/sbin", "/usr/local/sbin"];

/// The release whose folder in the cache is looked into.
const ROCKETMQ_FOLDER: &str = "flashdrill/rocketmq-5.3.3";

/// Where `make` puts programs that no package has, in the cache.
const TOOLS: &str = "flashdrill/tools/bin";
const TOXIPROXY: &str = "toxiproxy-server";

/// How an empty data folder is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum MysqlServer {
    MariaDb { server: PathBuf, install: PathBuf },
    Mysql { server: PathBuf },
}

impl MysqlServer {
    pub fn server(&self) -> &Path {
        match self {
            Self::MariaDb { server, .. } | Self::Mysql { server } => server,
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Programs {
    pub redis_server: PathBuf,
    pub mysql: MysqlServer,
    pub java: PathBuf,
    pub rocketmq_jars: PathBuf,
    /// Missed only where it is asked for.
    toxiproxy: Option<PathBuf>,
}

impl Programs {
    /// # Errors
    /// All programs that are missing, and the RocketMQ jars, at once.
    pub fn find() -> Result<Self, EnvironmentError> {
        Self::find_in(&search_folders(), rocketmq_folder())
    }

    fn find_in(folders: &[PathBuf], jars: PathBuf) -> Result<Self, EnvironmentError> {
        let find = |program: &str| {
            folders
                .iter()
                .map(|f| f.join(program))
                .find(|p| p.is_file())
        };
        let redis = find("redis-server");
        let java = find("java");
        let mysql = match (find("mariadbd"), find("mariadb-install-db"), find("mysqld")) {
            (Some(server), Some(install), _) => Some(MysqlServer::MariaDb { server, install }),
            (_, _, Some(server)) => Some(MysqlServer::Mysql { server }),
            _ => None,
        };
        let (Some(redis_server), Some(mysql), Some(java)) = (&redis, &mysql, &java) else {
            let all = [
                (redis.is_none(), "redis-server", "redis-server"),
                (mysql.is_none(), "mariadbd or mysqld", "mariadb-server"),
                (java.is_none(), "java", "openjdk-17-jre-headless"),
            ];
            let missing = all.into_iter().filter(|(missing, ..)| *missing);
            return Err(EnvironmentError::MissingPrograms {
                programs: missing
                    .map(|(_, program, package)| MissingProgram { program, package })
                    .collect(),
                jars: (!has_broker(&jars)).then_some(jars),
            });
        };
        if !has_broker(&jars) {
            return Err(EnvironmentError::MissingJars { dir: jars });
        }
        Ok(Self {
            redis_server: redis_server.clone(),
            mysql: mysql.clone(),
            java: java.clone(),
            rocketmq_jars: jars,
            toxiproxy: find(TOXIPROXY),
        })
    }

    /// # Errors
    /// It is not installed.
    pub fn toxiproxy(&self) -> Result<&Path, EnvironmentError> {
        self.toxiproxy
            .as_deref()
            .ok_or(EnvironmentError::NoToxiproxy)
    }
}

pub(crate) fn setpriv() -> Option<PathBuf> {
    let folders = search_folders();
    folders
        .iter()
        .map(|f| f.join("setpriv"))
        .find(|p| p.is_file())
}

fn search_folders() -> Vec<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = env::split_paths(&path).collect();
    folders.extend(SYSTEM_FOLDERS.map(PathBuf::from));
    folders.push(cache_folder().join(TOOLS));
    folders
}

/// `$FLASHDRILL_ROCKETMQ`, else a folder of the user's cache that `make deps` fills.
fn rocketmq_folder() -> PathBuf {
    if let Some(folder) = set("FLASHDRILL_ROCKETMQ") {
        return folder.into();
    }
    cache_folder().join(ROCKETMQ_FOLDER)
}

/// The user's.
fn cache_folder() -> PathBuf {
    let cache = set("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || set("HOME").map(|home| Path::new(&home).join(".cache"));
    cache.or_else(home).unwrap_or_else(env::temp_dir)
}

fn set(variable: &str) -> Option<OsString> {
    env::var_os(variable).filter(|value| !value.is_empty())
}

fn has_broker(folder: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else {
        return false;
    };
    entries.flatten().any(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.starts_with("rocketmq-broker-") && name.ends_with(".jar")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder_with(name: &str, files: &[&str]) -> PathBuf {
        let folder =
            env::temp_dir().join(format!("flashdrill-programs-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        for file in files {
            fs::write(folder.join(file), "").unwrap();
        }
        folder
    }

    #[test]
    fn names_every_missing_program_with_its_package() {
        let folder = folder_with("some", &["java"]);
        let jars = PathBuf::from("/no/jars");
        let error = Programs::find_in(std::slice::from_ref(&folder), jars).unwrap_err();
        fs::remove_dir_all(folder).unwrap();
        assert_eq!(
            error.to_string(),
            "missing programs:\n  redis-server (Debian package redis-server)\
             \n  mariadbd or mysqld (Debian package mariadb-server)\
             \ninstall them with: apt-get install mariadb-server redis-server\
             \nno RocketMQ jars in /no/jars: run `make deps`, or name their folder in FLASHDRILL_ROCKETMQ\
             \nor run the servers in containers: --env container"
        );
    }

    #[test]
    fn missing_jars_name_the_folder_and_the_command() {
        let folder = folder_with("no-jars", &["redis-server", "mysqld", "java"]);
        let error =
            Programs::find_in(std::slice::from_ref(&folder), folder.join("mq")).unwrap_err();
        fs::remove_dir_all(&folder).unwrap();
        let text = error.to_string();
        assert!(
            matches!(error, EnvironmentError::MissingJars { .. }),
            "{text}"
        );
        assert!(
            text.contains(&folder.join("mq").display().to_string()),
            "{text}"
        );
        assert!(text.contains("make deps"), "{text}");
    }

    #[test]
    fn finds_servers_outside_the_users_path_and_does_without_toxiproxy() {
        let first = folder_with("first", &["java", "rocketmq-broker-5.3.3.jar"]);
        let second = folder_with("second", &["redis-server", "mysqld"]);
        let found = Programs::find_in(&[first.clone(), second.clone()], first.clone()).unwrap();
        fs::remove_dir_all(&first).unwrap();
        fs::remove_dir_all(&second).unwrap();
        assert_eq!(found.redis_server, second.join("redis-server"));
        assert_eq!(
            found.mysql,
            MysqlServer::Mysql {
                server: second.join("mysqld")
            }
        );
        assert!(matches!(
            found.toxiproxy(),
            Err(EnvironmentError::NoToxiproxy)
        ));
    }
}
