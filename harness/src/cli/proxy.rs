//! `flashdrill proxy`: the fault proxy alone, until Ctrl-C.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use super::exit::Exit;
use super::stop_word::StopWord;
use crate::proxy::client::LinkRequest;
use crate::proxy::{ProxyError, ProxyOptions, ProxyServer};

const AFTER_HELP: &str = r#"The API is Toxiproxy's: its clients work unchanged. Beside its toxics there are

  stall         holds everything back, loses nothing, goes on when removed
  unreachable   new connects hang, as on a host that is gone

and any toxic takes "from": "127.0.1.10" to hit only the connections of that client. Beside its paths:

  POST   /proxies/NAME/rst           resets every live connection, both sides
  GET    /proxies/NAME/connections   lists them
  GET    /proxies/NAME/traffic       counts bytes live: forwarded, held back, delayed
  PUT    /leases/ID {"ttl_ms": N}    creates or renews a lease; what is broken with the header
                                     `Flashdrill-Lease: ID` is mended when it ends
  DELETE /leases/ID                  ends it now

A first fault:

  flashdrill proxy &
  curl -d '{"name":"redis","listen":"127.0.0.1:6380","upstream":"127.0.0.1:6379"}' 127.0.0.1:8474/proxies
  curl -d '{"type":"latency","attributes":{"latency":200}}' 127.0.0.1:8474/proxies/redis/toxics
  redis-cli -p 6380 ping
  curl -X POST 127.0.0.1:8474/reset
"#;

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// Where the API is served; port 0 chooses one.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8474")]
    listen: SocketAddr,
    /// Decides which connections a toxicity below 1 hits, jitter, and sizes of slices.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Host beyond this machine that proxies may listen on or lead to, written as in their requests. May
    /// be given several times.
    #[arg(long, value_name = "HOST")]
    allow: Vec<String>,
    /// JSON file with proxies to create at the start: `[{"name", "listen", "upstream"}]`.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

pub async fn run(args: Args) -> Exit {
    let requests = match args.config.as_deref().map(read).transpose() {
        Ok(requests) => requests.unwrap_or_default(),
        Err(error) => return Exit::usage(&error),
    };
    match serve(args, &requests).await {
        Ok(()) => Exit::Pass,
        Err(error @ ProxyError::NotAllowed { .. }) => {
            Exit::usage(&format!("{error}; --allow HOST allows one"))
        }
        Err(error) => Exit::unavailable(&error),
    }
}

async fn serve(args: Args, requests: &[LinkRequest]) -> Result<(), ProxyError> {
    let mut word = StopWord::listen().map_err(|e| ProxyError::Start {
        source: std::io::Error::other(e),
    })?;
    let server = ProxyServer::start_with(ProxyOptions {
        listen: args.listen,
        seed: args.seed,
        allow: args.allow,
    })?;
    server.client().populate(requests).await?;
    say!(
        "Fault proxy, Toxiproxy's API: http://{}\nCtrl-C ends it.",
        server.address()
    );
    word.heard().await;
    Ok(())
}

fn read(file: &Path) -> Result<Vec<LinkRequest>, String> {
    let text = fs::read(file).map_err(|e| format!("{}: {e}", file.display()))?;
    serde_json::from_slice(&text).map_err(|e| {
        format!(
            "{}: {e}; it must be a list like [{{\"name\": \"redis\", \"listen\": \"127.0.0.1:6380\", \
             \"upstream\": \"127.0.0.1:6379\"}}]",
            file.display()
        )
    })
}
