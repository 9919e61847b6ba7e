//! The terminal as the watcher of a run: steps as lines, the live state on one line that changes.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::drill::narrate::Narrate;

/// Without a terminal the live state is printed this often, so that logs stay readable.
const PLAIN_LIVE_EVERY: Duration = Duration::from_secs(5);

pub struct Terminal {
    started: Instant,
    bar: Option<ProgressBar>,
    last_live: Mutex<Instant>,
}

impl Terminal {
    pub fn new() -> Self {
        let started = Instant::now();
        let bar = std::io::stderr().is_terminal().then(live_line);
        Self {
            started,
            bar,
            last_live: Mutex::new(started),
        }
    }

    fn stamp(&self) -> String {
        format!("[{:6.1}s]", self.started.elapsed().as_secs_f64())
    }
}

fn live_line() -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
        bar.set_style(style);
    }
    bar
}

impl Default for Terminal {
    fn default() -> Self {
        Self::new()
    }
}

impl Narrate for Terminal {
    fn say(&self, line: &str) {
        let line = format!("{} {line}", self.stamp());
        match &self.bar {
            Some(bar) => {
                bar.set_message("");
                bar.println(line);
            }
            None => note!("{line}"),
        }
    }

    fn live(&self, line: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(line.to_owned());
            bar.tick();
            return;
        }
        let Ok(mut last) = self.last_live.lock() else {
            return;
        };
        if last.elapsed() >= PLAIN_LIVE_EVERY {
            *last = Instant::now();
            note!("{} {line}", self.stamp());
        }
    }
}
