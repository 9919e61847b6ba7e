//! wrk: closed loop, pipelining and requests that differ by script. It measures from the moment it sends, and adds guesses for the
//! users who would have come at its own average pace while it was waiting.

use std::io;
use std::path::Path;
use std::process::Command;

use super::{
    BODY, CONNECTIONS, CONTENT_TYPE, Latency, Load, Pace, ReadError, Requests, TEMPLATE, Tool,
    lines, program,
};

pub struct Wrk;

impl Tool for Wrk {
    fn name(&self) -> &'static str {
        "wrk"
    }

    fn absent(&self) -> &'static str {
        "not installed; Debian calls its package wrk"
    }

    fn version(&self, program: &Path) -> String {
        program::version_in(&program::printed(program, &["-v"]))
    }

    fn command(&self, program: &Path, load: &Load<'_>) -> io::Result<Option<Command>> {
        Ok(match load.pace {
            Pace::Closed | Pace::Pipelined => Some(command(program, load)?),
            Pace::Paced { .. } => None,
        })
    }

    fn latency(&self, _: &Path, _: &Load<'_>, printed: &str) -> Result<Latency, ReadError> {
        lines::read(printed)
    }
}

/// What wrk and its descendants have in common. They take whole seconds only.
pub(super) fn command(program: &Path, load: &Load<'_>) -> io::Result<Command> {
    let script = load.file("wrk.lua", &script(load.pace, load.requests))?;
    let seconds = load.duration_ms.div_ceil(1000);
    let mut command = Command::new(program);
    command
        .args(["-t1", &format!("-c{CONNECTIONS}"), &format!("-d{seconds}s")])
        .arg("-s")
        .arg(script)
        .arg(load.url);
    Ok(command)
}

fn script(pace: Pace, requests: Requests) -> String {
    let shares = lines::percents();
    format!(
        "wrk.method = 'POST'
wrk.body = '{BODY}'
wrk.headers['Content-Type'] = '{CONTENT_TYPE}'
{}done = function(summary, latency, requests)
  for _, share in ipairs({{ {shares} }}) do
    print(string.format('latency_us %g %d', share, latency:percentile(share)))
  end
end
",
        sending(pace, requests)
    )
}

/// Without a `request` function wrk builds the request once and never calls Lua while it sends.
fn sending(pace: Pace, requests: Requests) -> String {
    match (requests, pace.depth()) {
        (Requests::Same, 1) => String::new(),
        (Requests::Same, depth) => same(depth),
        (Requests::Own, depth) => own(depth),
    }
}

fn same(depth: u32) -> String {
    format!(
        "init = function(args) pipelined = wrk.format():rep({depth}) end
request = function() return pipelined end
"
    )
}

/// Lua does little for a request: one call of `format`, however many are sent at once, which is cheaper than one for
/// each and `concat`. (Digits written into a buffer by its foreign function interface cost the same at depth 1, and
/// a tenth less when pipelined; hardly anybody writes that.) The head that wrk makes for `BODY` holds for all, since
/// all are as long.
fn own(depth: u32) -> String {
    let body = TEMPLATE
        .replace("{user}", "u%012d")
        .replace("{request_id}", "%024x");
    let numbers: Vec<String> = (1..=depth).map(|k| format!("n + {k}, n + {k}")).collect();
    let numbers = numbers.join(", ");
    // A sign of percent in the head would mean something to `format`. There is one thread, so one counter.
    format!(
        "local format, number = string.format, 0
local template
init = function(args)
  local head = wrk.format():sub(1, -1 - #wrk.body):gsub('%%', '%%%%')
  template = (head .. '{body}'):rep({depth})
end
request = function()
  local n = number
  number = n + {depth}
  return format(template, {numbers})
end
"
    )
}

#[cfg(test)]
mod tests {
    use super::super::testing::arguments;
    use super::*;

    const PRINTED: &str = "\
Running 2s test @ http://127.0.0.1:55611/buy
  1 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.85ms    2.14ms  13.07ms   85.48%
    Req/Sec    45.19k     8.74k   64.72k    65.00%
  90571 requests in 2.02s, 11.14MB read
Requests/sec:  44942.32
Transfer/sec:      5.53MB
latency_us 50 568
latency_us 75 2835
latency_us 90 4851
latency_us 95 6359
latency_us 99 9242
latency_us 99.9 12424
latency_us 99.99 13013
";

    #[test]
    fn the_script_s_lines_are_read() {
        let latency = lines::read(PRINTED).unwrap();
        let figures = [latency.p50_us, latency.p99_us, latency.p999_us];
        assert_eq!(figures.map(|us| us as u64), [568, 9242, 12424]);
        assert_eq!(latency.curve.points().len(), 7);
    }

    #[test]
    fn it_cannot_pace() {
        assert!(
            arguments(&Wrk, Pace::Closed, Requests::Same)
                .unwrap()
                .starts_with("-t1 -c64 -d5s -s ")
        );
        assert_eq!(
            arguments(&Wrk, Pace::Paced { per_s: 5 }, Requests::Same),
            None
        );
    }

    #[test]
    fn lua_is_called_only_where_it_must_be() {
        assert!(!script(Pace::Closed, Requests::Same).contains("request ="));
        assert!(script(Pace::Pipelined, Requests::Same).contains(":rep(16)"));
        assert!(script(Pace::Closed, Requests::Own).contains("format(template, n + 1, n + 1)"));
        let pipelined = script(Pace::Pipelined, Requests::Own);
        assert!(pipelined.contains("number = n + 16"), "{pipelined}");
        assert!(pipelined.contains("n + 16, n + 16)"), "{pipelined}");
    }
}
