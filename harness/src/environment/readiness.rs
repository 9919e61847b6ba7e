//! Waits for a server to serve, and tells what went wrong when it does not.

use std::time::{Duration, Instant};

use super::error::EnvironmentError;
use super::server::{Ending, Server};

/// Between two looks; short against every start, long against the cost of a probe.
const PROBE_EVERY: Duration = Duration::from_millis(50);
/// A probe that hangs is a probe that failed.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

/// Asks `probe` until it succeeds. The probe's error says what is still missing.
///
/// # Errors
/// The process died, found its port taken, or was not ready in time.
pub(crate) async fn wait_until<T, P>(
    server: &Server,
    timeout: Duration,
    mut probe: impl FnMut() -> P,
) -> Result<T, EnvironmentError>
where
    P: Future<Output = Result<T, String>>,
{
    let start = Instant::now();
    let mut last;
    loop {
        let answer = tokio::time::timeout(PROBE_TIMEOUT, probe()).await;
        // Looked at after the probe: somebody else's server may have answered on a taken port.
        if let Some(ending) = server.ending().await {
            return Err(death(server, ending));
        }
        match answer {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(missing)) => last = missing,
            Err(_) => last = "it accepts but does not answer".to_owned(),
        }
        if start.elapsed() >= timeout {
            return Err(EnvironmentError::NotReady {
                component: server.component().to_owned(),
                waited_ms: start.elapsed().as_millis(),
                last,
                tail: server.log_tail(),
            });
        }
        tokio::time::sleep(PROBE_EVERY).await;
    }
}

fn death(server: &Server, ending: Ending) -> EnvironmentError {
    let (component, tail) = (server.component().to_owned(), server.log_tail());
    if tail
        .lines
        .iter()
        .any(|line| line.contains("Address already in use"))
    {
        return EnvironmentError::PortInUse {
            component,
            port: server.port(),
            tail,
        };
    }
    EnvironmentError::Died {
        component,
        ending,
        tail,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::net::TcpListener;
    use std::path::PathBuf;
    use std::sync::Arc;

    use super::super::launcher::{Launcher, Place};
    use super::super::server::{Program, ServerSpec};
    use super::*;

    /// Starts a real server and waits for it in vain.
    async fn failure(test: &str, program: &str, args: &[String], port: u16) -> EnvironmentError {
        let logs = std::env::temp_dir().join(format!("flashdrill-{test}-{}", std::process::id()));
        let launcher = Arc::new(Launcher::new(test, &logs, Place::native().unwrap()).unwrap());
        let spec = ServerSpec {
            component: "redis-9".to_owned(),
            program: Program::Path(PathBuf::from(program)),
            args: args.to_vec(),
            env: [].into(),
            dir: launcher.folder.make("redis-9").unwrap(),
            log: launcher.log_file("redis-9"),
            port,
        };
        let server = Server::start(&launcher, spec).await.unwrap();
        let never = || async { Err::<(), _>("connection refused".to_owned()) };
        let limit = Duration::from_millis(if program == "sleep" { 100 } else { 20_000 });
        let error = wait_until(&server, limit, never).await.unwrap_err();
        drop(server);
        fs::remove_dir_all(logs).unwrap();
        error
    }

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[tokio::test]
    async fn a_broken_configuration_is_told_with_the_logs_own_words() {
        let args = words("--port 0 --appendfsync sometimes");
        let error = failure("died", "redis-server", &args, 0).await;
        assert!(matches!(error, EnvironmentError::Died { .. }), "{error}");
        let text = error.to_string();
        for part in [
            "redis-9 died during start (exit status 1)",
            "redis-9.log",
            "appendfsync",
        ] {
            assert!(text.contains(part), "{part} not in: {text}");
        }
    }

    #[tokio::test]
    async fn a_taken_port_is_named() {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = taken.local_addr().unwrap().port();
        let args = words(&format!("--port {port} --bind 127.0.0.1"));
        let error = failure("taken", "redis-server", &args, port).await;
        assert!(error.is_port_in_use(), "{error}");
        let text = error.to_string();
        assert!(
            text.starts_with("redis-9: a port it wants is in use")
                && text.contains(&format!("given {port}")),
            "{text}"
        );
        assert!(text.contains("Address already in use"), "{text}");
    }

    #[tokio::test]
    async fn a_server_that_never_answers_is_told_with_the_probes_last_words() {
        let error = failure("late", "sleep", &words("600"), 0).await;
        let text = error.to_string();
        assert!(matches!(error, EnvironmentError::NotReady { .. }), "{text}");
        assert!(text.contains("connection refused"), "{text}");
        assert!(text.contains("redis-9.log is empty"), "{text}");
    }
}
