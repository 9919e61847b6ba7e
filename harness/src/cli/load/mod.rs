//! `flashdrill load`: the load engine on its own, against any HTTP server.

mod args;
mod gate;
mod merge;
mod offer;
mod result;
mod text;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

pub use args::Args;
use args::More;
use offer::Offer;
use result::LoadResult;

use super::exit::Exit;
use super::stop_word::StopWord;
use super::terminal::Terminal;
use crate::drill::watch::watch;
use crate::history::FaultEpoch;
use crate::load::figures::Figures;
use crate::load::{self, LoadError, LoadJob, Progress};

/// Connections are opened before the first request.
const LEAD_IN: Duration = Duration::from_millis(300);

pub async fn run(args: Args) -> Exit {
    match &args.more {
        Some(More::Merge(merge)) => merge::run(merge),
        None => offer(&args).await,
    }
}

/// Offers the load, prints and saves what came of it.
async fn offer(args: &Args) -> Exit {
    let offer = match Offer::new(args) {
        Ok(offer) => offer,
        Err(problems) => {
            return Exit::usage(&format!("load: {} problem(s){problems}", problems.0.len()));
        }
    };
    if let Err(error) = offer.endpoint.knock() {
        let at = offer.endpoint.authority();
        let hint = format!("nothing answers at {at}: {error}; start the server first");
        return Exit::unavailable(&hint);
    }
    let mut word = match StopWord::listen() {
        Ok(word) => word,
        Err(error) => return Exit::internal(&error),
    };
    let cancel = Arc::new(AtomicBool::new(false));
    let stop = Arc::clone(&cancel);
    tokio::spawn(async move {
        word.heard().await;
        stop.store(true, Ordering::Relaxed);
    });
    match measure(&offer, cancel).await {
        Ok(figures) => conclude(args, &offer, figures),
        Err(error @ LoadError::Template { .. }) => Exit::usage(&error),
        Err(error) => Exit::internal(&error),
    }
}

async fn measure(offer: &Offer, cancel: Arc<AtomicBool>) -> Result<Figures, LoadError> {
    let progress = Arc::new(Progress::default());
    let start = Instant::now() + LEAD_IN;
    let job = LoadJob {
        spec: offer.spec.clone(),
        endpoint: offer.endpoint.clone(),
        variables: offer.variables.clone(),
        history: None,
        start,
        progress: Arc::clone(&progress),
        epoch: Arc::new(FaultEpoch::default()),
        cancel,
    };
    let load = tokio::task::spawn_blocking(move || load::run(job));
    let terminal = Terminal::new();
    tokio::select! {
        done = load => done.unwrap_or_else(|error| Err(LoadError::Panicked(error.to_string()))),
        never = watch(&progress, start, &terminal) => match never {},
    }
}

fn conclude(args: &Args, offer: &Offer, figures: Figures) -> Exit {
    let result = LoadResult::new(offer.about(), figures);
    if let Err(error) = result.save(args.json.as_deref(), args.hdr.as_deref()) {
        return Exit::internal(&error);
    }
    result.conclude(&offer.gates, args.json_on_stdout())
}
