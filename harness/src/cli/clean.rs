//! `flashdrill clean`: removes what dead runs have left.

use crate::environment::{Swept, sweep};

/// Sweeps and says what was done.
pub async fn run() -> Swept {
    let swept = sweep().await;
    for process in &swept.killed {
        say!("killed {process}");
    }
    for folder in &swept.removed {
        say!("removed run {folder}");
    }
    if swept == Swept::default() {
        say!("nothing was left behind");
    }
    swept
}
