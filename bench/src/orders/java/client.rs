//! The Java program: compiled, and run.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::error::JavaError;
use super::{THREADS, Times};
use crate::tool::program::on_path;

const SOURCE: &str = include_str!("../../../java/Transactions.java");
const CLASS: &str = "Transactions";
const TOPIC: &str = "transactions";
/// Where `make deps` puts RocketMQ, in the user's cache.
const JARS: &str = "flashdrill/rocketmq-5.3.3";
/// As the broker's, which shares the machine: see `harness/src/environment/rocketmq/jvm.rs`.
const MEMORY: [&str; 3] = ["-Xms256m", "-Xmx512m", "-XX:+UseSerialGC"];
/// Its own, which is terse: the broker's jar is on the class path too, and its settings would be found first.
const LOGGING: &str = "-Drmq.logback.configurationFile=rmq.client.logback.xml";

pub struct Program {
    java: PathBuf,
    class_path: OsString,
    /// It logs in there.
    folder: PathBuf,
}

impl Program {
    /// Compiles it into the folder.
    ///
    /// # Errors
    /// The compiler, Java or RocketMQ's jars are not there, or do not fit.
    pub fn compile(folder: &Path) -> Result<Self, JavaError> {
        let javac = installed("javac", "openjdk-17-jdk-headless")?;
        let java = installed("java", "openjdk-17-jre-headless")?;
        let jars = jars()?.join("*");
        fs::create_dir_all(folder)?;
        let source = folder.join(format!("{CLASS}.java"));
        fs::write(&source, SOURCE)?;
        let mut command = Command::new(javac);
        command.arg("-d").arg(folder).arg("-cp").arg(&jars);
        let output = command.arg(source).output()?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Err(JavaError::NotCompiled(said));
        }
        Ok(Self {
            java,
            class_path: env::join_paths([folder, &jars]).map_err(io::Error::other)?,
            folder: folder.to_owned(),
        })
    }

    /// # Errors
    /// Java cannot be run.
    pub fn start(&self, name_server: &str, times: Times) -> io::Result<Client> {
        let mut home = OsString::from("-Duser.home=");
        home.push(&self.folder);
        let numbers = [THREADS, times.warm_up_s, times.counted_s].map(|number| number.to_string());
        let child = Command::new(&self.java)
            .args(MEMORY)
            .arg(LOGGING)
            .arg(home)
            .arg("-cp")
            .arg(&self.class_path)
            .args([CLASS, name_server, TOPIC])
            .args(numbers)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        Ok(Client(child))
    }
}

fn installed(program: &'static str, package: &'static str) -> Result<PathBuf, JavaError> {
    on_path(program).ok_or(JavaError::NoProgram { program, package })
}

/// Flashdrill looks for the broker in the same folder.
fn jars() -> Result<PathBuf, JavaError> {
    let set = |variable| env::var_os(variable).filter(|value| !value.is_empty());
    let home = || Some(PathBuf::from(set("HOME")?).join(".cache"));
    let cache = || set("XDG_CACHE_HOME").map(PathBuf::from).or_else(home);
    let named = set("FLASHDRILL_ROCKETMQ").map(PathBuf::from);
    let folder = named.or_else(|| Some(cache()?.join(JARS)));
    let folder = folder.unwrap_or_else(|| JARS.into());
    if has_client(&folder) {
        Ok(folder)
    } else {
        Err(JavaError::NoJars(folder))
    }
}

fn has_client(folder: &Path) -> bool {
    let names = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names = names.map(|entry| entry.file_name());
    names.any(|name| name.to_string_lossy().starts_with("rocketmq-client-"))
}

/// The program as it runs; killed when dropped.
pub struct Client(Child);

impl Client {
    pub fn pid(&self) -> u32 {
        self.0.id()
    }

    pub fn child(&mut self) -> &mut Child {
        &mut self.0
    }

    /// What it printed, once it has ended: it does by itself.
    pub fn printed(&mut self) -> io::Result<String> {
        let mut printed = String::new();
        if let Some(mut out) = self.0.stdout.take() {
            out.read_to_string(&mut printed)?;
        }
        Ok(printed)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Errors say that it has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn what_is_missing_is_named_with_its_package() {
        let error = installed("no-such-javac", "openjdk-17-jdk-headless").unwrap_err();
        assert_eq!(
            error.to_string(),
            "no no-such-javac: Debian calls its package openjdk-17-jdk-headless"
        );
    }

    #[test]
    fn a_folder_without_the_client_will_not_do() {
        let folder = Scratch::new("test-jars").unwrap();
        assert!(!has_client(folder.path()));
        fs::write(folder.path().join("rocketmq-client-5.3.3.jar"), "").unwrap();
        assert!(has_client(folder.path()));
        assert!(!has_client(&folder.path().join("none")));
    }
}
