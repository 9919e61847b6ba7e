use std::net::SocketAddr;
use std::time::{Duration, Instant};

use flashdrill::proxy::cut::{Action, Cut, Protocol, Then};
use sqlx::{Connection, Executor, MySqlConnection, Row};
use tokio::time::sleep;

use crate::servers::mariadb;
use crate::{Fixture, LINK, SOON, link_to, lose_reply};

async fn mysql_at(address: SocketAddr, user: &str) -> MySqlConnection {
    let url = format!("mysql://{user}@{address}/sale?ssl-mode=disabled");
    MySqlConnection::connect(&url).await.unwrap()
}

async fn rows(direct: &mut MySqlConnection) -> i64 {
    let row = direct.fetch_one("SELECT COUNT(*) FROM t").await.unwrap();
    row.get(0)
}

/// One server for both: its start is what takes long.
#[tokio::test]
async fn on_a_real_server() {
    let server = mariadb();
    let mut direct = mysql_at(server.address, "root").await;
    for statement in [
        "CREATE TABLE t (id INT PRIMARY KEY) ENGINE = InnoDB",
        "CREATE USER 'shop'@'%'",
        "GRANT ALL ON sale.* TO 'shop'@'%'",
    ] {
        direct.execute(statement).await.unwrap();
    }
    let f = link_to(server.address).await;
    a_commit_is_durable_though_its_connection_was_lost(&f, &mut direct).await;
    direct.execute("DELETE FROM t").await.unwrap();
    let f = link_to(server.address).await;
    an_open_connection_is_joined_at_its_next_command(&f, &mut direct).await;
}

/// The client's transaction ends in an error, and is durable all the same.
async fn a_commit_is_durable_though_its_connection_was_lost(
    f: &Fixture,
    direct: &mut MySqlConnection,
) {
    let text = lose_reply(Protocol::Mysql, "COMMIT", Then::Reset);
    f.client.follow(LINK, Some(Protocol::Mysql)).await.unwrap();

    let mut shop = mysql_at(f.listen, "shop").await;
    f.client.add_cut(LINK, &text).await.unwrap();
    let mut transaction = shop.begin().await.unwrap();
    transaction
        .execute(sqlx::query("INSERT INTO t VALUES (?)").bind(1))
        .await
        .unwrap();
    transaction.commit().await.unwrap_err();
    assert_eq!(rows(direct).await, 1);
    f.fired(&text.name, 1).await;

    f.client.remove_cut(LINK, &text.name).await.unwrap();
    let mut shop = mysql_at(f.listen, "shop").await;
    f.client.add_cut(LINK, &text).await.unwrap();
    shop.execute("START TRANSACTION").await.unwrap();
    shop.execute("INSERT INTO t VALUES (2)").await.unwrap();
    sqlx::query("COMMIT").execute(&mut shop).await.unwrap_err();
    assert_eq!(rows(direct).await, 2, "as a prepared statement");
    let cut = f.fired(&text.name, 1).await;
    assert_eq!(cut.connections_followed, 0, "{cut:?}");
}

/// A pool's connections were opened long before somebody thought of a cut.
async fn an_open_connection_is_joined_at_its_next_command(
    f: &Fixture,
    direct: &mut MySqlConnection,
) {
    let mut shop = mysql_at(f.listen, "shop").await;
    let mut other = mysql_at(f.listen, "shop").await;
    let cut = Cut {
        nth: 2,
        ..Cut::next(Protocol::Mysql, "INSERT", Action::Close)
    };
    f.client.add_cut(LINK, &cut).await.unwrap();
    shop.execute("INSERT INTO t VALUES (1)").await.unwrap();
    other.execute("INSERT INTO t VALUES (2)").await.unwrap_err();
    shop.execute("INSERT INTO t VALUES (3)").await.unwrap();
    let begun = Instant::now();
    while rows(direct).await < 3 {
        assert!(begun.elapsed() < SOON, "the second insert did not arrive");
        sleep(Duration::from_millis(10)).await;
    }
    let cut = f.fired(&cut.name, 1).await;
    assert_eq!((cut.seen, cut.fired), (3, 1));
}
