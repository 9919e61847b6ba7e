//! The flags of `flashdrill load`.

use std::path::{Path, PathBuf};

use clap::Subcommand;
use reqwest::Url;

use super::gate::Gate;
use super::merge::MergeArgs;

const AFTER_HELP: &str = "\
Examples:
  flashdrill load http://127.0.0.1:8080/ --rate 20000 --duration 30s --slo 'response_p99<=50ms'
  flashdrill load http://127.0.0.1:8080/v1/orders --method POST --header 'content-type: application/json' \\
      --body '{\"user\":\"{user}\",\"request_id\":\"{request_id}\"}' --rate 5000
  flashdrill load http://127.0.0.1:8080 --drill drills/baseline/oversell.toml
  flashdrill load merge worker-1.json worker-2.json --json all.json

Response times count from the time a request was meant to go out, so a server that stalls is charged for
every request it kept waiting. A schedule that could not be held makes the result inconclusive (exit 2); a
gate that does not hold fails it (exit 1).
";

#[derive(Debug, clap::Args)]
#[command(
    after_help = AFTER_HELP,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true
)]
pub struct Args {
    #[command(subcommand)]
    pub more: Option<More>,
    /// Where the load goes; with --target or --drill the server's base, such as http://127.0.0.1:8080.
    #[arg(required = true)]
    pub url: Option<Url>,
    /// Requests per second, offered whatever the server does.
    #[arg(long, default_value_t = 1_000.0, conflicts_with_all = ["closed", "drill"])]
    pub rate: f64,
    /// Keep every connection full instead: the next request goes out when one is answered.
    #[arg(long, conflicts_with = "drill")]
    pub closed: bool,
    /// How long: 500ms, 30s, 2m.
    #[arg(long, default_value = "10s", value_parser = duration_ms, conflicts_with = "drill")]
    pub duration: u64,
    /// Schedule, population, requests and answers of a drill; the server must be up and the sale open.
    #[arg(long, value_name = "FILE", conflicts_with = "target")]
    pub drill: Option<PathBuf>,
    /// Requests and answers of a target file; buyers of --users click.
    #[arg(long, value_name = "FILE")]
    pub target: Option<PathBuf>,
    /// A variable of the request templates, such as sale=spring or sku=sku-01.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub variables: Vec<String>,
    /// Connections, opened before the start and replaced when they break.
    #[arg(long, default_value_t = 64, conflicts_with = "drill")]
    pub connections: u32,
    /// Requests that may be unanswered on one connection (HTTP/1.1 pipelining).
    #[arg(long, default_value_t = 1, conflicts_with = "drill")]
    pub depth: u32,
    /// After this a request is given up as of unknown outcome.
    #[arg(long, default_value = "10s", value_parser = duration_ms, conflicts_with = "drill")]
    pub timeout: u64,
    #[arg(long, default_value = "GET", conflicts_with_all = ["target", "drill"])]
    pub method: String,
    /// A header, as `name: value`.
    #[arg(long = "header", short = 'H', value_name = "NAME: VALUE", conflicts_with_all = ["target", "drill"])]
    pub headers: Vec<String>,
    /// The body; {user} and {request_id} differ from request to request, other braces are doubled or left
    /// as they are.
    #[arg(long, default_value = "", conflicts_with_all = ["target", "drill"])]
    pub body: String,
    /// The body from a file.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["body", "target", "drill"])]
    pub body_file: Option<PathBuf>,
    /// Users that requests are drawn from.
    #[arg(long, default_value_t = 1_000_000, conflicts_with = "drill")]
    pub users: u64,
    /// Root of every random stream.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// What must hold, such as response_p99<=50ms, unknown_share<0.1%, sent_share>=99.9%.
    #[arg(long = "slo", value_name = "GATE")]
    pub gates: Vec<Gate>,
    /// Saves all figures with their histograms, for `flashdrill load merge` and other programs; - is stdout.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Saves the response times as an HdrHistogram log, one histogram a second.
    #[arg(long, value_name = "FILE")]
    pub hdr: Option<PathBuf>,
    /// A host beyond this machine that may be loaded, as the URL names it.
    #[arg(long = "allow-host", value_name = "HOST")]
    pub hosts: Vec<String>,
    /// PEM file of the certificate authority to trust for https; without it the system's.
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum More {
    /// Merge saved results of generators that ran at the same time.
    Merge(MergeArgs),
}

impl Args {
    /// The figures go to standard output, so the text must not.
    pub fn json_on_stdout(&self) -> bool {
        self.json.as_deref() == Some(Path::new("-"))
    }
}

/// Milliseconds of a length of time as people write it.
fn duration_ms(text: &str) -> Result<u64, String> {
    let duration: jiff::SignedDuration = text
        .parse()
        .map_err(|_| "expected a length of time such as 500ms, 30s or 2m".to_owned())?;
    match u64::try_from(duration.as_millis()) {
        Ok(ms @ 1..) => Ok(ms),
        _ => Err("expected at least 1ms".to_owned()),
    }
}
