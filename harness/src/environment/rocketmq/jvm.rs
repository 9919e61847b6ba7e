//! The Java command lines of name server and broker.

use std::path::PathBuf;

use super::super::launcher::Launcher;
use super::super::server::{Program, ServerSpec};

/// RocketMQ 5.3 reaches into these packages, which newer Javas keep closed. By the variable that Java reads from 9 on: the
/// official image has 8, which stops at options it does not know.
const JAVA_OPTIONS: (&str, &str) = (
    "JDK_JAVA_OPTIONS",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED --add-opens=java.base/java.nio=ALL-UNNAMED \
     --add-exports=java.base/jdk.internal.misc=ALL-UNNAMED",
);

/// Small heaps, the collector with the fewest threads and the quick compiler: everything shares one machine, and lives
/// for a drill. The thorough compiler took as much of a broker's first minute as its messages did.
const ON_A_SHARED_MACHINE: [&str; 2] = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"];
const NAME_SERVER_MEMORY: &[&str] = &["-Xms64m", "-Xmx128m"];
const BROKER_MEMORY: &[&str] = &["-Xms256m", "-Xmx512m", "-XX:MaxDirectMemorySize=512m"];

pub(super) fn name_server(
    launcher: &Launcher,
    component: &str,
    dir: PathBuf,
    args: &[String],
    port: u16,
) -> ServerSpec {
    let class = "org.apache.rocketmq.namesrv.NamesrvStartup";
    spec(
        launcher,
        component,
        dir,
        NAME_SERVER_MEMORY,
        class,
        args,
        port,
    )
}

pub(super) fn broker(
    launcher: &Launcher,
    component: &str,
    dir: PathBuf,
    args: &[String],
    port: u16,
) -> ServerSpec {
    let class = "org.apache.rocketmq.broker.BrokerStartup";
    spec(launcher, component, dir, BROKER_MEMORY, class, args, port)
}

fn spec(
    launcher: &Launcher,
    component: &str,
    dir: PathBuf,
    memory: &[&str],
    class: &str,
    args: &[String],
    port: u16,
) -> ServerSpec {
    let options = memory.iter().chain(&ON_A_SHARED_MACHINE);
    let mut java: Vec<String> = options.map(|&option| option.to_owned()).collect();
    // Otherwise each start makes an RSA key for TLS that nobody uses: up to seconds of CPU.
    java.push("-Dtls.server.mode=disabled".to_owned());
    // Its logs and offsets go to the user's home unless told otherwise.
    java.push(format!("-Duser.home={}", dir.display()));
    java.push("-cp".to_owned());
    java.push(launcher.rocketmq_jars().join("*").display().to_string());
    java.push(class.to_owned());
    java.extend_from_slice(args);
    ServerSpec {
        component: component.to_owned(),
        program: Program::Java,
        args: java,
        env: [("ROCKETMQ_HOME", &*dir.display().to_string()), JAVA_OPTIONS]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
        log: launcher.log_file(component),
        dir,
        port,
    }
}
