//! MySQL's disk takes few writes a second, as a worn or shared one does.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::drill::range::Count;
use crate::environment::WriteLimit;
use crate::faults::error::FaultError;
use crate::faults::kind::{Kind, Need, kind};
use crate::faults::site::Site;
use crate::faults::sql::Session;

kind! {
    /// Lets MySQL write to its disk so many times a second only (the kernel's block I/O controller; Linux, root);
    /// unlimited again when healed.
    pub struct MysqlDiskSlow {
        /// Writes a second; a commit must come to take 100 ms at least, or there is no receipt.
        pub writes_per_s: Count,
    }
}

/// The quickest of so many commits must take `FACTOR` times as long as the slowest of so many before: one slow commit
/// may be the machine's.
const COMMITS_AFTER: usize = 3;
const COMMITS_BEFORE: usize = 5;
const FACTOR: u32 = 3;
/// What is quicker may be a busy machine's disk.
const SLOW: Duration = Duration::from_millis(100);

/// A table of our own, beside the service's database and not replicated, to commit into.
const PROBE: [&str; 3] = [
    "SET SESSION sql_log_bin = 0",
    "CREATE DATABASE IF NOT EXISTS flashdrill_probe",
    "CREATE TABLE IF NOT EXISTS flashdrill_probe.commits (number INT)",
];
const COMMIT: &str = "INSERT INTO flashdrill_probe.commits VALUES (1)";
const FORGET: &str = "DROP DATABASE IF EXISTS flashdrill_probe";

/// The slow server, and how long a commit took before.
#[derive(Debug, Default)]
pub(crate) struct Slow {
    session: Option<Session>,
    before: Duration,
    limit: Option<WriteLimit>,
}

impl Kind for MysqlDiskSlow {
    type State = Slow;
    const NEEDS: &'static [Need] = &[Need::OwnServers, Need::Root];

    async fn applicable(&self, _: &mut Slow, _: Site<'_>) -> Result<String, FaultError> {
        let writes = self.writes_per_s.get();
        Ok(format!("mysql: {writes} writes to its disk a second"))
    }

    async fn inject(&self, slow: &mut Slow, site: Site<'_>) -> Result<(), FaultError> {
        let mut session = Session::open(&site.stack.mysql.url()).await?;
        for sql in PROBE {
            session
                .execute("making a table to commit into", sql)
                .await?;
        }
        let folder: String = session
            .value("asking for its folder", "SELECT @@datadir")
            .await?;
        let session = slow.session.insert(session);
        for _ in 0..COMMITS_BEFORE {
            slow.before = slow.before.max(commit(session).await?);
        }
        let pid = site.stack.mysql.server.pid().unwrap_or_default();
        let writes = self.writes_per_s.get().into();
        slow.limit = Some(WriteLimit::set(pid, &PathBuf::from(folder), writes)?);
        Ok(())
    }

    async fn receipt(&self, slow: &mut Slow, _: Site<'_>) -> Result<String, FaultError> {
        let (Some(session), Some(_)) = (&mut slow.session, &slow.limit) else {
            return Err(FaultError::missing("its writes were not limited"));
        };
        let mut quickest = Duration::MAX;
        for _ in 0..COMMITS_AFTER {
            quickest = quickest.min(commit(session).await?);
        }
        let (now, before) = (quickest.as_millis(), slow.before.as_millis());
        // A commit is one write at least, and each has to wait for its place in the second.
        let gap = Duration::from_secs(1) / self.writes_per_s.get();
        if quickest >= gap.max(slow.before * FACTOR).max(SLOW) {
            return Ok(format!(
                "a commit takes at least {now} ms; at most {before} ms before"
            ));
        }
        let missing = format!("a commit takes {now} ms, up to {before} ms before");
        Err(FaultError::missing(missing))
    }

    async fn heal(&self, slow: &mut Slow, site: Site<'_>) -> Result<(), FaultError> {
        if let Some(limit) = &slow.limit {
            limit.lift()?;
        }
        if slow.session.is_some() {
            let mut session = Session::open(&site.stack.mysql.url()).await?;
            session
                .execute("leaving it out of the log", PROBE[0])
                .await?;
            session.execute("dropping our table", FORGET).await?;
            slow.session = None;
        }
        Ok(())
    }

    /// The kernel forgot the limit with its group.
    async fn is_healed(&self, _: &Slow, site: Site<'_>) -> Result<(), FaultError> {
        Session::open(&site.stack.mysql.url()).await.map(drop)
    }
}

async fn commit(session: &mut Session) -> Result<Duration, FaultError> {
    let begun = Instant::now();
    session.execute("committing", COMMIT).await?;
    Ok(begun.elapsed())
}
