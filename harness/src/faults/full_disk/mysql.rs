//! The tables of the service's database. The volume is put over the database's folder, and each table is built anew
//! (`ALTER TABLE ... FORCE`, others may write meanwhile), which makes its file in the folder as it is then, and lets go
//! of the old one. On a full disk a table that must grow is refused (error 1114); what it has room for goes on.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::environment::{EnvironmentError, LogSince, Server, Volume, volume};
use crate::faults::error::FaultError;
use crate::faults::site::Site;
use crate::faults::sql::Session;

/// What a table is kept in. Everything else that is in the folder is read by name, now and then.
const TABLE_FILE: &str = "ibd";
/// In its error log. `InnoDB` tells the number of the error, the server what it told the client.
const IS_FULL: &str = "' is full";

/// The replica has tables of its own; a transaction that holds a table must not hold us up for long.
const SETTINGS: [&str; 3] = [
    "SET SESSION sql_log_bin = 0",
    "SET SESSION foreign_key_checks = 0",
    "SET SESSION lock_wait_timeout = 5",
];
const TABLES: &str = "SELECT table_name FROM information_schema.tables \
                      WHERE table_schema = DATABASE() AND table_type <> 'VIEW'";

#[derive(Debug)]
pub(super) struct MysqlFiles {
    home: PathBuf,
    /// Those that may not be where the folder says.
    displaced: Vec<String>,
    log: LogSince,
}

impl MysqlFiles {
    pub async fn find(site: Site<'_>) -> Result<Self, FaultError> {
        let mysql = &site.stack.mysql;
        let mut session = Session::open(&mysql.url()).await?;
        let folder = "SELECT CONCAT(@@datadir, DATABASE())";
        let home: String = session.value("asking for its folder", folder).await?;
        Ok(Self {
            home: PathBuf::from(home),
            displaced: Vec::new(),
            log: mysql.server.log_from_now(),
        })
    }

    pub async fn move_to(&mut self, volume: &Volume, site: Site<'_>) -> Result<(), FaultError> {
        let mut session = session(site).await?;
        self.displaced = session.column("listing its tables", TABLES).await?;
        copy_all(&self.home, &volume.folder(), is_no_table)?;
        volume.cover(&self.home)?;
        for table in &self.displaced {
            build_anew(&mut session, table).await?;
        }
        Ok(())
    }

    /// How many it has refused, and its words for the first.
    pub fn complaint(&self) -> Result<String, FaultError> {
        let said = self.log.text();
        let refused = said.lines().filter(|line| line.contains(IS_FULL));
        let Some(first) = refused.clone().next() else {
            let missing = "no table of MySQL's has had to grow yet";
            return Err(FaultError::missing(missing));
        };
        let (_, words) = first.rsplit_once("] ").unwrap_or(("", first));
        let count = refused.count();
        Ok(format!(
            "mysql has no room ({words}); {count} statements refused so far"
        ))
    }

    /// Tables that were made meanwhile come along. A server that is dead finds them all when it starts.
    pub async fn move_home(
        &mut self,
        volume: &Volume,
        server: &Server,
        site: Site<'_>,
    ) -> Result<(), FaultError> {
        let is_covered = !volume::mounted_below(&self.home).is_empty();
        if !server.is_alive() {
            if is_covered {
                volume::unmount_below(&self.home);
                copy_all(&volume.folder(), &self.home, |_| true)?;
            }
            self.displaced.clear();
            return Ok(());
        }
        let mut session = session(site).await?;
        if is_covered {
            self.displaced = session.column("listing its tables", TABLES).await?;
            volume::unmount_below(&self.home);
            copy_all(&volume.folder(), &self.home, is_no_table)?;
        }
        while let Some(table) = self.displaced.last() {
            build_anew(&mut session, table).await?;
            self.displaced.pop();
        }
        Ok(())
    }

    pub async fn can_write(&self, site: Site<'_>) -> Result<(), FaultError> {
        let mysql = Session::open(&site.stack.mysql.url()).await;
        match self.displaced.len() {
            0 => mysql.map(drop),
            left => Err(FaultError::missing(format!(
                "{left} tables are not moved back"
            ))),
        }
    }
}

async fn session(site: Site<'_>) -> Result<Session, FaultError> {
    let mut session = Session::open(&site.stack.mysql.url()).await?;
    for setting in SETTINGS {
        session.execute("preparing to move tables", setting).await?;
    }
    Ok(session)
}

async fn build_anew(session: &mut Session, table: &str) -> Result<(), FaultError> {
    let quoted = table.replace('`', "``");
    let sql = format!("ALTER TABLE `{quoted}` FORCE");
    session.execute("building a table anew", &sql).await
}

fn is_no_table(file: &Path) -> bool {
    file.extension().is_none_or(|kind| kind != TABLE_FILE)
}

/// Copies the files that are `wanted`. The others get an empty one in their place if there is none, which the server
/// removes when it builds the table anew.
fn copy_all(from: &Path, to: &Path, wanted: impl Fn(&Path) -> bool) -> Result<(), FaultError> {
    let copy = || -> io::Result<()> {
        for entry in fs::read_dir(from)? {
            let file = entry?.path();
            let place = to.join(file.file_name().unwrap_or_default());
            if wanted(&file) {
                fs::copy(&file, &place)?;
            } else {
                File::options().create(true).append(true).open(&place)?;
            }
        }
        Ok(())
    };
    copy().map_err(|e| EnvironmentError::step("mysql", "copying its files", e).into())
}
