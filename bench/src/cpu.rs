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
    use super::used_us;

    #[test]
    fn work_is_seen() {
        let before = used_us(std::process::id()).unwrap();
        let mut sum = 0_u64;
        while used_us(std::process::id()).unwrap() < before + 1_000.0 {
            sum = std::hint::black_box(sum + 1);
        }
        assert!(used_us(std::process::id()).unwrap() > before);
    }
}
