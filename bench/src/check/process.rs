//! A process run to its end: how long it took, and the most memory it had.

use std::fs;
use std::io;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;

const LOOK_EVERY: Duration = Duration::from_millis(5);

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spent {
    pub took_s: f64,
    /// The most that was resident.
    pub peak_mib: f64,
}

/// Its output is thrown away, and so is how it ended.
///
/// # Errors
/// It cannot be started.
pub fn run_to_end(command: &mut Command) -> io::Result<Spent> {
    let begun = Instant::now();
    let mut child = command.stdout(Stdio::null()).spawn()?;
    let status = format!("/proc/{}/status", child.id());
    let mut peak_mib = 0.0_f64;
    while child.try_wait()?.is_none() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        peak_mib = peak_mib.max(peak_of(&text).unwrap_or(0.0));
        thread::sleep(LOOK_EVERY);
    }
    Ok(Spent {
        took_s: begun.elapsed().as_secs_f64(),
        peak_mib,
    })
}

/// The kernel's own high-water mark, so that nothing is missed between two looks.
fn peak_of(status: &str) -> Option<f64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib / 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_and_memory_of_a_process() {
        let spent = run_to_end(Command::new("sleep").arg("0.1")).unwrap();
        assert!(spent.took_s >= 0.1 && spent.peak_mib > 0.0, "{spent:?}");
        assert_eq!(peak_of("VmPeak:\t 9 kB\nVmHWM:\t  2048 kB\n"), Some(2.0));
        assert_eq!(peak_of("Name:\tsleep\n"), None);
    }
}
