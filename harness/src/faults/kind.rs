//! What every kind of fault is: its keys in a drill file, what it needs, and the steps it goes through.

use std::borrow::Cow;
use std::fmt;

use super::error::FaultError;
use super::site::Site;

/// A key of a kind in drill files and on the command line.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    pub name: &'static str,
    pub help: &'static str,
    /// Writes the default as in a drill file; None: the key must be given.
    pub default: Option<fn() -> String>,
}

/// What is written about a kind, made by the macro `kind!`.
pub(crate) trait Described {
    const SUMMARY: &'static str;
    const KEYS: &'static [Key];
}

/// What a kind asks of the environment, so that a drill that cannot work is refused before anything starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Need {
    /// The built-in proxy: real Toxiproxy has no such toxic or cut point.
    BuiltInProxy,
    /// Servers that the harness has started, to be killed and paused.
    OwnServers,
    /// Links, by a pattern: those between the servers are there only when the servers are ours.
    Links(Cow<'static, str>),
    MysqlReplica,
    /// A target file that says how: its `[start.failpoint]` or the like.
    Failpoints,
    /// Rights that an ordinary user has not.
    Root,
    /// File systems of our own, mounted where the servers see them.
    Mounts,
}

impl Need {
    pub(crate) const fn links(pattern: &'static str) -> Self {
        Self::Links(Cow::Borrowed(pattern))
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BuiltInProxy => "the built-in proxy (--proxy built-in)",
            Self::OwnServers => "servers that flashdrill has started",
            Self::Links(pattern) => return write!(f, "links that are called `{pattern}`"),
            Self::MysqlReplica => "a replica of MySQL",
            Self::Failpoints => "a service with failpoints",
            Self::Root => "root",
            Self::Mounts => {
                "root that may mount (CAP_SYS_ADMIN), and servers that see it (--env native)"
            }
        })
    }
}

/// A kind of fault: the values of its keys, and its steps. They are called in the order written here; `heal` is
/// called whatever became of `inject`, and again until `is_healed`, so it must be idempotent.
pub(crate) trait Kind: Described {
    /// What one injection remembers from step to step.
    type State: Default + Send;

    /// False for a change of state that is over at once and is not undone.
    const HEALS: bool = true;
    const NEEDS: &'static [Need] = &[];

    /// Finds the victim and says in words what will be done to it.
    async fn applicable(
        &self,
        state: &mut Self::State,
        site: Site<'_>,
    ) -> Result<String, FaultError>;

    async fn inject(&self, state: &mut Self::State, site: Site<'_>) -> Result<(), FaultError>;

    /// Evidence that the fault bit, once there is enough of it; the error says what is missing. Asked again and
    /// again until the fault is to be healed.
    async fn receipt(&self, state: &mut Self::State, site: Site<'_>) -> Result<String, FaultError>;

    async fn heal(&self, _: &mut Self::State, _: Site<'_>) -> Result<(), FaultError> {
        Ok(())
    }

    /// The error says what is still missing.
    async fn is_healed(&self, _: &Self::State, _: Site<'_>) -> Result<(), FaultError> {
        Ok(())
    }
}

/// Declares the keys of a kind once: as the struct that drill files and plans hold, and as the help that
/// `flashdrill fault list` prints. The first line of documentation is the summary.
///
/// ```text
/// kind! {
///     /// Kills the broker.
///     pub struct BrokerKill {
///         /// Requests are swallowed so long before the kill, ms.
///         pub cut_requests_ms: u64 = 0,
///     }
/// }
/// ```
macro_rules! kind {
    (
        $(#[doc = $summary:literal])+
        pub struct $name:ident { $(
            $(#[doc = $help:literal])+
            pub $key:ident : $type:ty $(= $default:expr)?
        ),* $(,)? }
    ) => {
        $(#[doc = $summary])+
        #[derive(Debug, Clone, PartialEq, deserr::Deserr, serde::Serialize, serde::Deserialize)]
        #[deserr(deny_unknown_fields, error = $crate::drill::problems::Problems)]
        pub struct $name { $(
            $(#[doc = $help])+
            $(#[deserr(default = $default)])?
            pub $key: $type,
        )* }

        impl $crate::faults::kind::Described for $name {
            const SUMMARY: &'static str = concat!($($summary),+);
            const KEYS: &'static [$crate::faults::kind::Key] = &[$(
                $crate::faults::kind::Key {
                    name: stringify!($key),
                    help: concat!($($help),+),
                    default: $crate::faults::kind::default_text!($type $(, $default)?),
                }
            ),*];
        }
    };
}

/// Writes a default, if there is one.
macro_rules! default_text {
    ($type:ty) => {
        None
    };
    ($type:ty, $default:expr) => {
        Some(|| {
            let default: $type = $default;
            serde_json::json!(default).to_string()
        })
    };
}

pub(crate) use {default_text, kind};
