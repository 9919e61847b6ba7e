//! What the nodes' account may not do (DB-9). What it may do, all other tests do with it.

use flashsale::sale::sku::Rules;

use crate::support::mariadb;

#[tokio::test]
async fn a_node_cannot_undo_what_has_happened() {
    let url = mariadb::database().await;
    let _store = mariadb::selling_at(&url, "s", Rules::default(), &[("a", 3)]).await;
    let mut node = mariadb::connect(&mariadb::node_url(&url)).await;
    let by_hand = [
        "UPDATE audit SET after_value = ''",
        "DELETE FROM audit",
        "DELETE FROM orders",
        "DELETE FROM consumed",
        "UPDATE top_ups SET units = 0",
        "DELETE FROM stock_00",
        "UPDATE stock_layout SET shards = 1",
        "DROP TABLE orders",
        "TRUNCATE TABLE stock_00",
        "ALTER TABLE orders ADD COLUMN paid_twice INT",
        "CREATE TABLE mine (id INT)",
        "CREATE TRIGGER mine BEFORE INSERT ON orders FOR EACH ROW SET NEW.quantity = 9",
        "GRANT ALL ON orders TO node",
    ];
    for sql in by_hand {
        let done = sqlx::raw_sql(sql).execute(&mut node).await;
        let refused = done.expect_err(sql).to_string();
        assert!(refused.contains("denied"), "{sql}: {refused}");
    }
}

#[tokio::test]
async fn another_node_finds_the_rights_there() {
    let url = mariadb::database().await;
    for _ in 0..2 {
        mariadb::open(&url, mariadb::TABLES).await.unwrap();
    }
}

#[tokio::test]
async fn an_owner_who_cannot_hand_on_its_rights_is_told_so() {
    let url = mariadb::database().await;
    let database = url.rsplit_once('/').unwrap().1;
    let mut root = mariadb::connect(&url).await;
    for sql in [
        "CREATE OR REPLACE USER greedy".to_owned(),
        format!("GRANT ALL ON {database}.* TO greedy"),
    ] {
        sqlx::raw_sql(&sql).execute(&mut root).await.unwrap();
    }
    let owner_url = url.replace("root@", "greedy@");
    let (node_url, tables) = (mariadb::node_url(&url), mariadb::TABLES);
    let opened = flashsale::store::Store::open(&node_url, Some(&owner_url), tables).await;
    let error = opened.unwrap_err().to_string();
    assert!(
        error.contains("give the nodes' account its rights"),
        "{error}"
    );
}
