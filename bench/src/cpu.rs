//! CPU time of a process, from the kernel's scheduler: nanoseconds, where `stat` counts in ticks of 10 ms.

use std::{fs, io};

/// User and system time of the threads that the process has now. None of the measured ones ends its threads.
pub fn used_us(pid: u32) -> io::Result<f64> {
    let mut used_ns = 0;
    for task in fs::read_dir(format!("/proc/{pid}/task"))? {
        let text = fs::read_to_string(task?.path().join("schedstat"))?;
        let first = text.split_whitespace().next().unwrap_or_default();
        used_ns += first
            .parse::<u64>()
            .map_err(|_| io::Error::other(format!("the kernel's schedstat is `{text}`")))?;
    }
    Ok(used_ns as f64 / 1e3)
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::Duration;

    use super::used_us;

    /// Of a process of its own: this one's threads are other tests, which end.
    #[test]
    fn work_is_seen() {
        let spin = ["-c", "while :; do :; done"];
        let mut child = Command::new("sh").args(spin).spawn().unwrap();
        let before = used_us(child.id()).unwrap();
        while used_us(child.id()).unwrap() < before + 1_000.0 {
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(used_us(child.id()).is_err(), "a process that has ended");
    }
}
