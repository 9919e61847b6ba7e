//! wrk2: wrk with a constant rate and latency from the intended start. Debian has no package of it; it is used
//! where a program `wrk2` is on the search path (its own build calls the program `wrk`: rename it).

use std::io;
use std::path::Path;
use std::process::Command;

use super::{Latency, Load, Pace, ReadError, Tool, lines, program, wrk};

pub struct Wrk2;

impl Tool for Wrk2 {
    fn name(&self) -> &'static str {
        "wrk2"
    }

    fn absent(&self) -> &'static str {
        "not available here: no package; build it and put it on the search path as `wrk2`"
    }

    fn version(&self, program: &Path) -> String {
        program::version_in(&program::printed(program, &["-v"]))
    }

    fn command(&self, program: &Path, load: &Load<'_>) -> io::Result<Option<Command>> {
        let Pace::Paced { per_s } = load.pace else {
            return Ok(None);
        };
        let mut command = wrk::command(program, load)?;
        command.arg(format!("-R{per_s}"));
        Ok(Some(command))
    }

    fn latency(&self, _: &Path, _: &Load<'_>, printed: &str) -> Result<Latency, ReadError> {
        lines::read(printed)
    }

    /// Built in: it measures its own rate first and throws these latencies away.
    fn calibration_ms(&self) -> u64 {
        10_000
    }
}

#[cfg(test)]
mod tests {
    use super::super::Requests;
    use super::super::testing::arguments;
    use super::*;

    const PRINTED: &str = "\
Running 12s test @ http://127.0.0.1:50745/buy
  1 threads and 64 connections
  Thread calibration: mean lat.: 1.977ms, rate sampling interval: 10ms
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.50ms    1.32ms  10.10ms   84.99%
    Req/Sec     5.29k     1.17k    8.60k    71.78%
  59221 requests in 12.00s, 7.29MB read
Requests/sec:   4935.01
Transfer/sec:    621.70KB
latency_us 50 1117
latency_us 99 6187
latency_us 99.9 8495
latency_us 99.99 9727
";

    #[test]
    fn the_script_s_lines_are_read() {
        let latency = lines::read(PRINTED).unwrap();
        let figures = [latency.p50_us, latency.p99_us, latency.p999_us];
        assert_eq!(figures.map(|us| us as u64), [1117, 6187, 8495]);
    }

    #[test]
    fn it_can_only_pace() {
        let paced = arguments(&Wrk2, Pace::Paced { per_s: 5000 }, Requests::Same).unwrap();
        assert!(paced.ends_with("/buy -R5000"), "{paced}");
        assert_eq!(arguments(&Wrk2, Pace::Closed, Requests::Same), None);
        assert_eq!(arguments(&Wrk2, Pace::Pipelined, Requests::Same), None);
    }
}
