//! How a server's life ended.

use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// Ended by a signal, or by itself with a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ending {
    pub signal: Option<i32>,
    pub code: Option<i32>,
}

impl Ending {
    /// By SIGKILL.
    pub fn was_killed(self) -> bool {
        self.signal == Some(9)
    }

    pub fn is_success(self) -> bool {
        self.code == Some(0)
    }
}

impl From<ExitStatus> for Ending {
    fn from(status: ExitStatus) -> Self {
        Self {
            signal: status.signal(),
            code: status.code(),
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.signal, self.code) {
            (Some(signal), _) => write!(f, "signal {signal}"),
            (None, Some(code)) => write!(f, "exit status {code}"),
            (None, None) => f.write_str("unknown ending"),
        }
    }
}
