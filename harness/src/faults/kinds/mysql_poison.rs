//! Orders that the store refuses for something about themselves: poison messages to whoever applies them.
//!
//! A trigger refuses them. It draws a number before that, and a number is not given back when the refused statement is
//! undone: so many were drawn, so many inserts were refused. Replicas get table and trigger too: whatever is inserted
//! meanwhile names the table in the binary log. What they replay fires no trigger.

use crate::drill::range::Count;
use crate::faults::error::FaultError;
use crate::faults::kind::{Kind, kind};
use crate::faults::site::Site;
use crate::faults::sql::Session;
use crate::target::Poison;

kind! {
    /// Makes MySQL refuse the orders of some buyers however often they come, and take all others (poison messages);
    /// taken again when healed.
    pub struct MysqlPoison {
        /// The orders of one in so many buyers are refused.
        pub one_in: Count = Count::new(20).expect("20 is in range"),
    }
}

/// No trigger is made or dropped while a transaction has the table; one that never ends must not hold up all others.
const PATIENCE: &str = "SET SESSION lock_wait_timeout = 5";
const NUMBERS: &str =
    "CREATE TABLE flashdrill_refusals (number BIGINT AUTO_INCREMENT PRIMARY KEY) ENGINE = InnoDB";
const TRIGGERS: &str = "SELECT COUNT(*) FROM information_schema.TRIGGERS
    WHERE TRIGGER_SCHEMA = DATABASE() AND TRIGGER_NAME = 'flashdrill_poison'";
const CURE: [&str; 2] = [
    "DROP TRIGGER IF EXISTS flashdrill_poison",
    "DROP TABLE IF EXISTS flashdrill_refusals",
];

impl Kind for MysqlPoison {
    type State = ();

    async fn applicable(&self, (): &mut (), site: Site<'_>) -> Result<String, FaultError> {
        let Poison { table, .. } = poison(site)?;
        let one_in = self.one_in.get();
        Ok(format!(
            "mysql: the rows of one in {one_in} buyers refused by table {table}"
        ))
    }

    async fn inject(&self, (): &mut (), site: Site<'_>) -> Result<(), FaultError> {
        let Poison { table, when } = poison(site)?;
        let one_in = [("one_in", self.one_in.get().to_string())];
        let when = site.fill("state.poison.when", when, &one_in)?;
        let refuse = format!(
            "CREATE TRIGGER flashdrill_poison BEFORE INSERT ON {table} FOR EACH ROW IF {when} THEN
             INSERT INTO flashdrill_refusals VALUES (NULL);
             SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'poison, by flashdrill';
             END IF"
        );
        let mut session = patient(site).await?;
        for sql in CURE.into_iter().chain([NUMBERS, &refuse]) {
            session.execute("making the trigger", sql).await?;
        }
        Ok(())
    }

    async fn receipt(&self, (): &mut (), site: Site<'_>) -> Result<String, FaultError> {
        let mut session = patient(site).await?;
        let step = "counting what was refused";
        // Draws a number itself; every other row of the table was undone.
        let draw = "INSERT INTO flashdrill_refusals VALUES (NULL)";
        session.execute(step, draw).await?;
        let refused = "SELECT CAST(MAX(number) - COUNT(*) AS SIGNED) FROM flashdrill_refusals";
        match session.value::<i64>(step, refused).await? {
            0 => Err(FaultError::missing("nothing was refused")),
            refused => Ok(format!("inserts refused: {refused}")),
        }
    }

    async fn heal(&self, (): &mut (), site: Site<'_>) -> Result<(), FaultError> {
        let mut session = patient(site).await?;
        for sql in CURE {
            session.execute("dropping the trigger", sql).await?;
        }
        Ok(())
    }

    async fn is_healed(&self, (): &(), site: Site<'_>) -> Result<(), FaultError> {
        let mut session = Session::open(&site.stack.mysql.url()).await?;
        let step = "looking for the trigger";
        match session.value::<i64>(step, TRIGGERS).await? {
            0 => Ok(()),
            _ => Err(FaultError::missing("the trigger is still there")),
        }
    }
}

fn poison(site: Site<'_>) -> Result<&Poison, FaultError> {
    let poison = site.target.state.poison.as_ref();
    poison.ok_or(FaultError::NoField {
        field: "state.poison",
    })
}

async fn patient(site: Site<'_>) -> Result<Session, FaultError> {
    let mut session = Session::open(&site.stack.mysql.url()).await?;
    session.execute("limiting its patience", PATIENCE).await?;
    Ok(session)
}
