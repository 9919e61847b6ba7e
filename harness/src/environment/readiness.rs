//! Waits for a server to serve, and tells what went wrong when it does not.

use std::time::{Duration, Instant};

use super::error::EnvironmentError;
use super::process::Process;

/// Between two looks; short against every start, long against the cost of a probe.
const PROBE_EVERY: Duration = Duration::from_millis(50);
/// A probe that hangs is a probe that failed.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

/// Asks `probe` until it succeeds. The probe's error says what is still missing.
///
/// # Errors
/// The process died, found its port taken, or was not ready in time.
pub(crate) async fn wait_until<T>(
    process: &Process,
    timeout: Duration,
    mut probe: impl AsyncFnMut() -> Result<T, String>,
) -> Result<T, EnvironmentError> {
    let start = Instant::now();
    let mut last;
    loop {
        let answer = tokio::time::timeout(PROBE_TIMEOUT, probe()).await;
        // Looked at after the probe: somebody else's server may have answered on a taken port.
        if let Some(status) = process.exit_status() {
            return Err(death(process, status));
        }
        match answer {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(missing)) => last = missing,
            Err(_) => last = "it accepts but does not answer".to_owned(),
        }
        if start.elapsed() >= timeout {
            return Err(EnvironmentError::NotReady {
                component: process.component().to_owned(),
                waited_ms: start.elapsed().as_millis(),
                last,
                tail: process.log_tail(),
            });
        }
        tokio::time::sleep(PROBE_EVERY).await;
    }
}

fn death(process: &Process, status: std::process::ExitStatus) -> EnvironmentError {
    let (component, tail) = (process.component().to_owned(), process.log_tail());
    if tail
        .lines
        .iter()
        .any(|line| line.contains("Address already in use"))
    {
        return EnvironmentError::PortInUse {
            component,
            port: process.port(),
            tail,
        };
    }
    EnvironmentError::Died {
        component,
        status,
        tail,
    }
}
