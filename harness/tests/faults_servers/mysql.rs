//! Faults of the MySQL-compatible server, as the service's account meets them.

use std::time::Duration;

use flashdrill::faults::{
    Fault, MysqlCommitKill, MysqlCommitReplyLost, MysqlConnectionLimit, MysqlDeadlock,
    MysqlLockHolder, MysqlPoison, MysqlReadOnly, MysqlReplicaLag,
};
use sqlx::mysql::{MySqlConnection, MySqlDatabaseError};
use sqlx::{Connection, Executor};
use tokio::time::timeout;

use super::ground::{Ground, SOON, count, healed, without_receipt};

const TAKE: &str = "UPDATE stock SET available = available - 1 WHERE sku = 's1'";

async fn make_stock(connection: &mut MySqlConnection) {
    for sql in [
        "CREATE TABLE IF NOT EXISTS stock (sku VARCHAR(9) PRIMARY KEY, available INT)",
        "REPLACE INTO stock VALUES ('s1', 10)",
    ] {
        connection.execute(sql).await.unwrap();
    }
}

fn code(error: &sqlx::Error) -> Option<u16> {
    let error = error.as_database_error()?;
    error
        .try_downcast_ref::<MySqlDatabaseError>()
        .map(MySqlDatabaseError::number)
}

/// Takes units until that fails; returns the error's number.
async fn take_until_refused(writer: &mut MySqlConnection) -> Option<u16> {
    loop {
        match writer.execute(TAKE).await {
            Ok(_) => tokio::time::sleep(Duration::from_millis(5)).await,
            Err(error) => return code(&error),
        }
    }
}

fn lock_holder() -> Fault {
    Fault::MysqlLockHolder(MysqlLockHolder { sku: count(1) })
}

pub async fn a_held_row_lock_makes_writers_wait(ground: &Ground) {
    let mut writer = ground.connect().await.unwrap();
    make_stock(&mut writer).await;
    writer
        .execute("SET SESSION innodb_lock_wait_timeout = 3")
        .await
        .unwrap();
    // One writer after the other gives up, until there is one whose wait was cut short by the heal.
    let blocked = timeout(SOON, take_until_refused(&mut writer));
    let (event, gave_up) = ground.during(lock_holder(), blocked).await;
    assert!(healed(&event).contains("wait for the row"), "{event:?}");
    assert_eq!(gave_up.unwrap(), Some(1205), "lock wait timeout");
    let taken = timeout(SOON, writer.execute(TAKE)).await.unwrap();
    assert_eq!(taken.unwrap().rows_affected(), 1);
}

pub async fn a_lock_that_nobody_wants_has_no_receipt(ground: &Ground) {
    let event = ground.unnoticed(lock_holder()).await;
    without_receipt(&event, "no transaction waits");
}

fn poison() -> Fault {
    Fault::MysqlPoison(MysqlPoison { one_in: count(3) })
}

/// Buyers come in transactions of one each, until MySQL refuses one; returns the buyer and the error's number.
async fn fill_until_refused(writer: &mut MySqlConnection) -> (u64, Option<u16>) {
    let mut come = 1;
    loop {
        writer.execute("START TRANSACTION").await.unwrap();
        let insert = format!("INSERT INTO baskets VALUES ({come})");
        if let Err(error) = writer.execute(insert.as_str()).await {
            writer.execute("ROLLBACK").await.unwrap();
            return (come, code(&error));
        }
        writer.execute("COMMIT").await.unwrap();
        come += 1;
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

pub async fn poison_is_refused_and_all_else_is_taken(ground: &Ground) {
    let mut writer = ground.connect().await.unwrap();
    writer
        .execute("CREATE TABLE baskets (buyer INT PRIMARY KEY)")
        .await
        .unwrap();
    let refused = timeout(SOON, fill_until_refused(&mut writer));
    let (event, refused) = ground.during(poison(), refused).await;
    let (buyer, code) = refused.unwrap();
    assert_eq!((buyer % 3, code), (0, Some(1644)), "a signal");
    assert!(healed(&event).contains("inserts refused: 1"), "{event:?}");
    let again = format!("INSERT INTO baskets VALUES ({buyer})");
    writer.execute(again.as_str()).await.unwrap();
    let replica = ground.stack.mysql_replica.as_ref().unwrap();
    let in_step = async {
        while replica
            .missing(&ground.stack.mysql)
            .await
            .unwrap()
            .is_some()
        {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(SOON, in_step).await.expect("it replays on");
}

pub async fn poison_that_nobody_takes_has_no_receipt(ground: &Ground) {
    let event = ground.unnoticed(poison()).await;
    without_receipt(&event, "nothing was refused");
}

fn deadlock() -> Fault {
    Fault::MysqlDeadlock(MysqlDeadlock {
        sku: count(1),
        times: 1,
    })
}

/// Fills baskets and takes units, both in one transaction, until that fails; returns the error's number.
async fn sell_until_refused(writer: &mut MySqlConnection) -> Option<u16> {
    for buyer in 1_000.. {
        let insert = format!("INSERT INTO baskets VALUES ({buyer})");
        for sql in ["START TRANSACTION", &insert, TAKE, "COMMIT"] {
            if let Err(error) = writer.execute(sql).await {
                return code(&error);
            }
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    unreachable!("an endless range ends by returning")
}

pub async fn who_waits_with_rows_of_their_own_is_rolled_back(ground: &Ground) {
    let mut writer = ground.connect().await.unwrap();
    make_stock(&mut writer).await;
    let refused = timeout(SOON, sell_until_refused(&mut writer));
    let (event, refusal) = ground.during(deadlock(), refused).await;
    assert!(
        healed(&event).contains("rolled back by deadlocks"),
        "{event:?}"
    );
    assert_eq!(refusal.unwrap(), Some(1213), "deadlock");
    let taken = timeout(SOON, writer.execute(TAKE)).await.unwrap();
    assert_eq!(taken.unwrap().rows_affected(), 1);
}

pub async fn a_deadlock_that_nobody_loses_has_no_receipt(ground: &Ground) {
    let event = ground.unnoticed(deadlock()).await;
    without_receipt(&event, "0 of 1 transactions");
}

pub async fn a_read_only_server_refuses_the_service(ground: &Ground) {
    let mut writer = ground.connect().await.unwrap();
    make_stock(&mut writer).await;
    let refused = timeout(SOON, take_until_refused(&mut writer));
    let (event, refusal) = ground
        .during(Fault::MysqlReadOnly(MysqlReadOnly {}), refused)
        .await;
    assert!(healed(&event).contains("is refused"), "{event:?}");
    assert_eq!(refusal.unwrap(), Some(1290));
    writer.execute(TAKE).await.unwrap();
}

fn limit(connections: u64) -> Fault {
    let connections = count(connections);
    Fault::MysqlConnectionLimit(MysqlConnectionLimit { connections })
}

pub async fn connections_beyond_the_limit_are_refused(ground: &Ground) {
    let mut closed = ground.connect().await.unwrap();
    let refused = async {
        timeout(SOON, async {
            let mut opened = Vec::new();
            loop {
                match ground.connect().await {
                    Ok(connection) => opened.push(connection),
                    // Held until the fault has been proved.
                    Err(error) if code(&error) == Some(1040) => return opened,
                    // Closed with the others, while it was being opened.
                    Err(_) => {}
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        })
        .await
    };
    let (event, refused) = ground.during(limit(10), refused).await;
    assert!(healed(&event).contains("Too many connections"), "{event:?}");
    assert!(!refused.expect("too many connections").is_empty());
    assert!(closed.ping().await.is_err(), "it was closed");
    ground.connect().await.unwrap();
}

pub async fn a_limit_that_nobody_meets_has_no_receipt(ground: &Ground) {
    let event = ground.unnoticed(limit(100)).await;
    without_receipt(&event, "still gets connections");
}

fn replica_lag() -> Fault {
    Fault::MysqlReplicaLag(MysqlReplicaLag {})
}

pub async fn a_replica_falls_behind(ground: &Ground) {
    let mut writer = ground.connect().await.unwrap();
    make_stock(&mut writer).await;
    let (primary, replica) = (
        &ground.stack.mysql,
        ground.stack.mysql_replica.as_ref().unwrap(),
    );
    let behind = async {
        while replica.status().await.unwrap().replays {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        writer.execute(TAKE).await.unwrap();
        replica.unreplayed(primary).await.unwrap()
    };
    let (event, behind) = ground.during(replica_lag(), timeout(SOON, behind)).await;
    assert!(healed(&event).contains("has not replayed"), "{event:?}");
    assert!(behind.unwrap().is_some());
    assert_eq!(replica.missing(primary).await.unwrap(), None);
}

pub async fn a_replica_that_has_nothing_to_replay_has_no_receipt(ground: &Ground) {
    let event = ground.unnoticed(replica_lag()).await;
    without_receipt(&event, "nothing that it has not replayed");
}

fn commit_reply_lost() -> Fault {
    Fault::MysqlCommitReplyLost(MysqlCommitReplyLost { times: 1 })
}

fn commit_kill() -> Fault {
    Fault::MysqlCommitKill(MysqlCommitKill {})
}

/// Takes units, each in a transaction of its own, until a COMMIT fails; returns how many were asked for.
async fn take_until_a_commit_fails(writer: &mut MySqlConnection) -> i64 {
    for asked in 1.. {
        writer.execute("START TRANSACTION").await.unwrap();
        writer.execute(TAKE).await.unwrap();
        if writer.execute("COMMIT").await.is_err() {
            return asked;
        }
    }
    unreachable!("an endless range ends by returning")
}

/// What a client is not told has happened all the same.
async fn a_failed_commit_is_durable(ground: &Ground, fault: Fault, receipt: &str) {
    let mut writer = ground.connect().await.unwrap();
    make_stock(&mut writer).await;
    let taking = timeout(SOON, take_until_a_commit_fails(&mut writer));
    let (event, asked) = ground.during(fault, taking).await;
    assert!(healed(&event).contains(receipt), "{event:?}");
    let mut reader = ground.connect().await.unwrap();
    let left: i64 = sqlx::query_scalar("SELECT CAST(available AS SIGNED) FROM stock")
        .fetch_one(&mut reader)
        .await
        .unwrap();
    assert_eq!(left, 10 - asked.unwrap(), "every COMMIT was executed");
}

pub async fn the_reply_to_a_commit_is_lost(ground: &Ground) {
    a_failed_commit_is_durable(ground, commit_reply_lost(), "executed COMMITs lost").await;
    let event = ground.unnoticed(commit_reply_lost()).await;
    without_receipt(&event, "no COMMIT was executed");
}

pub async fn the_server_dies_at_a_commit(ground: &Ground) {
    let pid = ground.stack.mysql.server.pid();
    let event = ground.unnoticed(commit_kill()).await;
    without_receipt(&event, "no COMMIT was executed");
    assert_eq!(ground.stack.mysql.server.pid(), pid, "it lives on");
    a_failed_commit_is_durable(ground, commit_kill(), "exited by signal 9 after a COMMIT").await;
    assert_ne!(ground.stack.mysql.server.pid(), pid);
}
