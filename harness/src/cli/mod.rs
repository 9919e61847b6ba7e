//! The command line: one file per command. Exit codes: 0 pass, 1 fail, 2 inconclusive (the run was no
//! valid test), 64 usage, 69 the environment could not start, 70 internal.

#[macro_use]
mod print;

mod check;
pub mod clean;
mod drill;
pub mod endpoints;
mod exit;
mod explore;
mod fault;
mod history;
mod left_behind;
mod load;
mod prove;
mod proxy;
mod ps;
mod session;
mod setting;
mod stop_word;
mod terminal;
pub mod up;
mod workplace;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

pub use exit::Exit;

use setting::SettingArgs;

const AFTER_HELP: &str = "\
Exit codes: 0 pass, 1 fail, 2 inconclusive (the run was not a valid test), 64 usage or a wrong drill
file, 69 the environment could not start, 70 internal error.

A first drill:   flashdrill drill run drills/baseline/oversell.toml
Judge it again:  flashdrill check results/latest
";

/// Load tests and chaos drills for flash-sale inventory: breaks the stack while it sells, and proves from
/// the recorded history that nothing was oversold.
#[derive(Debug, Parser)]
#[command(name = "flashdrill", version, after_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run, list or show drills.
    #[command(subcommand)]
    Drill(drill::DrillCommand),
    /// Judge a saved run again, without any environment.
    Check(check::Args),
    /// Print a saved run's attempts, filtered; export them as JSON lines or CSV.
    History(history::Args),
    /// Offer load to any HTTP server: open loop, response times from the intended start.
    Load(Box<load::Args>),
    /// Run drills against the broken variants of the service that they must catch.
    Prove(prove::Args),
    /// Run random drills of one seed for a while; replay and shrink what fails.
    Explore(explore::Args),
    /// Bring up the stack, print its addresses, keep it until Ctrl-C.
    Up {
        /// Folder that keeps the servers' logs.
        #[arg(long, default_value = "results/stack-logs")]
        logs: PathBuf,
        /// Write an endpoints file here, with which another flashdrill can attach to the stack.
        #[arg(long, value_name = "FILE")]
        write_endpoints: Option<PathBuf>,
        #[command(flatten)]
        setting: SettingArgs,
    },
    /// List what can be broken; break and heal a stack that `up` keeps.
    #[command(subcommand)]
    Fault(fault::FaultCommand),
    /// Run the fault proxy alone: a drop-in for toxiproxy-server.
    Proxy(proxy::Args),
    /// Show what runs, and what is broken in it now.
    Ps,
    /// Remove what killed runs left: processes, containers and scratch folders whose owner is gone.
    Clean,
}

/// Parses the command line and runs the command.
pub fn main() -> Exit {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // clap's own exit code for a wrong command line is 2, which here means inconclusive.
            let _ = error.print();
            return if error.use_stderr() {
                Exit::Usage
            } else {
                Exit::Pass
            };
        }
    };
    init_log();
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => return Exit::internal(&error),
    };
    runtime.block_on(dispatch(cli.command))
}

/// Warnings of the parts on stderr; `RUST_LOG` asks for more.
fn init_log() {
    let filter = tracing_subscriber::EnvFilter::builder()
        .with_default_directive(tracing::level_filters::LevelFilter::ERROR.into())
        .from_env_lossy();
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .init();
}

async fn dispatch(command: Command) -> Exit {
    match command {
        Command::Drill(command) => drill::run(command).await,
        Command::Check(args) => check::run(&args),
        Command::History(args) => history::run(&args),
        Command::Load(args) => load::run(*args).await,
        Command::Prove(args) => prove::run(args).await,
        Command::Explore(args) => explore::run(args).await,
        Command::Up {
            logs,
            write_endpoints,
            setting,
        } => match setting.read() {
            Ok(setting) => up::run(logs, write_endpoints.as_deref(), setting)
                .await
                .unwrap_or_else(|error| Exit::unavailable(&error)),
            Err(exit) => exit,
        },
        Command::Fault(command) => fault::run(command).await,
        Command::Proxy(args) => proxy::run(args).await,
        Command::Ps => ps::run().await,
        Command::Clean => {
            clean::run().await;
            Exit::Pass
        }
    }
}
