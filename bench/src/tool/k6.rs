//! k6: closed loop or constant arrival rate, by script. Not installed by us (its licence, and it is one download
//! among many); used where it is on the search path. Its iterations are dropped, not late, when no user is free.
//! Its script could give each request a user; it does not here, since it is compared by the same ones only.

use std::io;
use std::path::Path;
use std::process::Command;

use super::{CONNECTIONS, CONTENT_TYPE, Latency, Load, Pace, ReadError, Tool, lines, program};

/// Users it may add while requests wait.
const MAX_USERS: u32 = 1000;

pub struct K6;

impl Tool for K6 {
    fn name(&self) -> &'static str {
        "k6"
    }

    fn version(&self, program: &Path) -> String {
        program::version_in(&program::printed(program, &["version"]))
    }

    fn command(&self, program: &Path, load: &Load<'_>) -> io::Result<Option<Command>> {
        let (Some(executor), Some(body)) = (executor(load.pace), load.requests.one_body()) else {
            return Ok(None);
        };
        let script = load.file("k6.js", &script(&executor, body, load))?;
        let mut command = Command::new(program);
        command
            .args(["run", "--quiet", "--no-usage-report"])
            .arg(script);
        Ok(Some(command))
    }

    fn latency(&self, _: &Path, _: &Load<'_>, printed: &str) -> Result<Latency, ReadError> {
        lines::read(printed)
    }
}

fn executor(pace: Pace) -> Option<String> {
    match pace {
        Pace::Closed => Some(format!("executor: 'constant-vus', vus: {CONNECTIONS}")),
        Pace::Paced { per_s } => Some(format!(
            "executor: 'constant-arrival-rate', rate: {per_s}, timeUnit: '1s', \
             preAllocatedVUs: {CONNECTIONS}, maxVUs: {MAX_USERS}"
        )),
        Pace::Pipelined => None,
    }
}

fn script(executor: &str, body: &str, load: &Load<'_>) -> String {
    let (url, duration, shares) = (load.url, load.duration(), lines::percents());
    format!(
        "import http from 'k6/http';
const shares = [{shares}];
export const options = {{
  discardResponseBodies: true,
  summaryTrendStats: shares.map((share) => `p(${{share}})`),
  scenarios: {{ buy: {{ {executor}, duration: '{duration}' }} }},
}};
const params = {{ headers: {{ 'Content-Type': '{CONTENT_TYPE}' }} }};
export default function () {{ http.post('{url}', '{body}', params); }}
export function handleSummary(data) {{
  const ms = data.metrics.http_req_duration.values;
  return {{ stdout: shares.map((share) => `latency_us ${{share}} ${{ms[`p(${{share}})`] * 1000}}\\n`).join('') }};
}}
"
    )
}

#[cfg(test)]
mod tests {
    use super::super::testing::arguments;
    use super::super::{BODY, Requests};
    use super::*;

    #[test]
    fn it_cannot_pipeline() {
        assert!(
            arguments(&K6, Pace::Closed, Requests::Same)
                .unwrap()
                .starts_with("run --quiet")
        );
        assert_eq!(arguments(&K6, Pace::Pipelined, Requests::Same), None);
        assert!(
            executor(Pace::Paced { per_s: 5000 })
                .unwrap()
                .contains("rate: 5000,")
        );
    }

    #[test]
    fn the_script_prints_the_lines_that_are_read() {
        let load = Load {
            url: "http://127.0.0.1:1/buy",
            pace: Pace::Closed,
            requests: Requests::Same,
            duration_ms: 2000,
            scratch: Path::new("."),
        };
        let script = script(&executor(load.pace).unwrap(), BODY, &load);
        for part in [
            "99, 99.9, 99.99];",
            "`p(${share})`",
            "vus: 64, duration: '2000ms' }",
            "http.post('http://127.0.0.1:1/buy', 'sku=7",
            "`latency_us ${share} ${ms[`p(${share})`] * 1000}\\n`",
        ] {
            assert!(script.contains(part), "{part} in {script}");
        }
    }
}
