//! The command line. Exit codes: 0 the comparison was made (a missed bar is told, not failed), 64 usage, 69 a tool
//! or the server could not be run, 70 the results could not be saved.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use serde::Serialize;

use crate::bars::{Bar, bars};
use crate::check;
use crate::machine::Machine;
use crate::measure::{Settings, compare};
use crate::orders;
use crate::proxy;
use crate::result::Comparison;
use crate::server::{Server, Setup};
use crate::{plot, table};

const USAGE: u8 = 64;
const UNAVAILABLE: u8 = 69;
const INTERNAL: u8 = 70;

/// Flashdrill's load generator beside others: one server, one request, one machine, one run.
#[derive(Debug, Parser)]
#[command(name = "flashbench", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Compare the load generators that are installed: CPU per request, the highest rate held, and how true
    /// their latencies are. About ten minutes; the machine should have nothing else to do.
    Run {
        /// A minute: one turn, shorter runs. Figures scatter more.
        #[arg(long)]
        short: bool,
        /// Folder for `table.md`, `bench.json` and `truth.svg`.
        #[arg(long, default_value = "results/bench")]
        out: PathBuf,
    },
    /// Compare flashdrill's fault proxy with Toxiproxy: CPU per request and added latency at 40,000 Redis requests
    /// per second. About two minutes.
    Proxy {
        /// Ten seconds: one turn, shorter runs. Figures scatter more.
        #[arg(long)]
        short: bool,
        /// Folder for `proxy.md` and `proxy.json`.
        #[arg(long, default_value = "results/bench")]
        out: PathBuf,
    },
    /// Time `flashdrill check` of six million attempts, and see whether its memory grows with refusals. Three minutes.
    Check {
        /// One minute: a tenth of the attempts.
        #[arg(long)]
        short: bool,
        /// Folder for `check.md` and `check.json`.
        #[arg(long, default_value = "results/bench")]
        out: PathBuf,
    },
    /// Compare the ways from a reservation to an order, and RocketMQ's Java client alone: orders accepted and durable a
    /// second, CPU an order. Seven minutes.
    Orders {
        /// Three minutes: shorter runs, the ways at half the rate.
        #[arg(long)]
        short: bool,
        /// Folder for `orders.md` and `orders.json`.
        #[arg(long, default_value = "results/bench")]
        out: PathBuf,
    },
    /// Run the measured server alone until a line comes on standard input, to try a tool by hand.
    Serve {
        /// Freeze as in the measurement of the truth.
        #[arg(long)]
        freeze: bool,
    },
}

/// Parses the command line and runs the command.
pub fn main() -> ExitCode {
    match Cli::try_parse() {
        Ok(cli) => match cli.command {
            Command::Run { short, out } => run(short, &out),
            Command::Proxy { short, out } => run_proxies(short, &out),
            Command::Check { short, out } => run_checks(short, &out),
            Command::Orders { short, out } => {
                let settings = orders::Settings { is_short: short };
                told(&out, "orders", orders::compare(settings), orders::markdown)
            }
            Command::Serve { freeze } => serve(freeze).map_or_else(
                |error| failed(UNAVAILABLE, &format!("cannot serve: {error}")),
                |()| ExitCode::SUCCESS,
            ),
        },
        Err(error) => {
            // clap's own exit code for a wrong command line is 2; flashdrill's is 64.
            let _ = error.print();
            ExitCode::from(if error.use_stderr() { USAGE } else { 0 })
        }
    }
}

fn failed(code: u8, what: &str) -> ExitCode {
    eprintln!("flashbench: {what}");
    ExitCode::from(code)
}

fn run(short: bool, out: &Path) -> ExitCode {
    let settings = if short {
        Settings::SHORT
    } else {
        Settings::FULL
    };
    let comparison = match compare(settings) {
        Ok(comparison) => comparison,
        Err(error) => return failed(UNAVAILABLE, &error.to_string()),
    };
    let bars = bars(&comparison);
    println!("{}", table::markdown(&comparison, &bars));
    match save(out, &comparison, &bars) {
        Ok(()) => {
            println!(
                "bench: {0}/table.md {0}/bench.json {0}/truth.svg",
                out.display()
            );
            ExitCode::SUCCESS
        }
        Err(error) => failed(
            INTERNAL,
            &format!("cannot save to {}: {error}", out.display()),
        ),
    }
}

fn run_proxies(short: bool, out: &Path) -> ExitCode {
    let settings = if short {
        proxy::Settings::SHORT
    } else {
        proxy::Settings::FULL
    };
    told(out, "proxy", proxy::compare(settings), proxy::markdown)
}

fn run_checks(short: bool, out: &Path) -> ExitCode {
    let settings = if short {
        check::Settings::SHORT
    } else {
        check::Settings::FULL
    };
    told(out, "check", check::measure(settings), check::markdown)
}

/// Prints what was measured and saves it.
fn told<T: Serialize>(
    out: &Path,
    name: &str,
    measured: io::Result<T>,
    markdown: fn(&T) -> String,
) -> ExitCode {
    match measured {
        Ok(figures) => {
            let page = markdown(&figures);
            println!("{page}");
            saved(out, name, &figures, &page)
        }
        Err(error) => failed(UNAVAILABLE, &format!("cannot measure ({name}): {error}")),
    }
}

/// Writes `<name>.md` and `<name>.json`.
fn saved(out: &Path, name: &str, figures: &impl Serialize, page: &str) -> ExitCode {
    let save = || -> io::Result<()> {
        fs::create_dir_all(out)?;
        let json = serde_json::to_string_pretty(figures)?;
        fs::write(out.join(format!("{name}.json")), json + "\n")?;
        fs::write(out.join(format!("{name}.md")), page)
    };
    match save() {
        Ok(()) => {
            println!("bench: {0}/{name}.md {0}/{name}.json", out.display());
            ExitCode::SUCCESS
        }
        Err(error) => failed(
            INTERNAL,
            &format!("cannot save to {}: {error}", out.display()),
        ),
    }
}

#[derive(serde::Serialize)]
struct Saved<'a> {
    #[serde(flatten)]
    comparison: &'a Comparison,
    bars: &'a [Bar],
}

fn save(out: &Path, comparison: &Comparison, bars: &[Bar]) -> io::Result<()> {
    fs::create_dir_all(out)?;
    let json = serde_json::to_string_pretty(&Saved { comparison, bars })?;
    fs::write(out.join("bench.json"), json + "\n")?;
    fs::write(out.join("table.md"), table::markdown(comparison, bars))?;
    let svg = plot::svg(comparison).map_err(io::Error::other)?;
    fs::write(out.join("truth.svg"), svg)
}

fn serve(freeze: bool) -> io::Result<()> {
    let server = Server::start(Setup {
        core: Machine::here()?.pins.map(|pins| pins.server),
        freezes: freeze.then_some(Settings::FULL.freezes),
    })?;
    println!("{}", server.url());
    io::stdin().read_line(&mut String::new())?;
    let log = server.finish();
    println!("answered {}", log.answered_ns.len());
    for freeze in &log.freezes {
        let (from, to) = (freeze.start_ns / 1000, freeze.end_ns / 1000);
        println!("frozen from {from} to {to} µs");
    }
    Ok(())
}
