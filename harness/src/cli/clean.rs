//! `flashdrill clean`: removes what dead runs have left.

use crate::environment::{Swept, sweep};

/// Sweeps and says what was done.
pub async fn run() -> Swept {
    let swept = sweep().await;
    for process in &swept.killed {
        println!("killed {process}");
    }
    for folder in &swept.removed {
        println!("removed run {folder}");
    }
    if swept == Swept::default() {
        println!("nothing was left behind");
    }
    swept
}
