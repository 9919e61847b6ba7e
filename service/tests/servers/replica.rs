//! Reads that may be some seconds old: from the replica while it is not too far behind, else from the primary.

use std::collections::HashSet;

use flashsale::store::{ReadFrom, Store};

use crate::support::mariadb;
use crate::support::orders::{ONE_EACH, order};

const SALE: &str = "sale";
const NODE: &str = "node";

/// Two databases that nobody replicates between: the second has the first of two orders only.
async fn two_databases() -> (Store, Store) {
    let primary = mariadb::selling(SALE, ONE_EACH, &[("a", 9)]).await;
    let orders = [order(SALE, "a", 1), order(SALE, "a", 2)];
    primary.apply(&orders).await.unwrap();
    let url = mariadb::database().await;
    let replica = mariadb::selling_at(&url, SALE, ONE_EACH, &[("a", 9)]).await;
    replica.apply(&orders[..1]).await.unwrap();
    (primary.with_replica(&url).unwrap(), replica)
}

/// Who answers, and how many of the two orders it knows.
async fn read(primary: &Store) -> (ReadFrom, usize) {
    let ids = [1, 2].map(|n| order(SALE, "a", n).order_id);
    let (existing, from) = primary.existing_for_some_time(&ids).await.unwrap();
    assert!(existing.is_subset(&HashSet::from(ids)));
    (from, existing.len())
}

#[tokio::test]
async fn the_replica_is_asked_while_what_it_shows_is_young() {
    let (primary, replica) = two_databases().await;
    assert_eq!(
        read(&primary).await,
        (ReadFrom::Primary, 2),
        "no sign of life"
    );
    let signs = [
        (60_000, ReadFrom::Primary, 2),
        (0, ReadFrom::Replica, 1),
        (2_000, ReadFrom::Replica, 1),
        (5_000, ReadFrom::Primary, 2),
    ];
    for (behind_ms, from, known) in signs {
        let shown_ms = primary.now_ms().await.unwrap() - behind_ms;
        replica.beat(NODE, true, shown_ms).await.unwrap();
        assert_eq!(read(&primary).await, (from, known), "{behind_ms} ms behind");
    }
}

#[tokio::test]
async fn what_decides_is_read_from_the_primary_however_young_the_replica_is() {
    let (primary, replica) = two_databases().await;
    let now_ms = primary.now_ms().await.unwrap();
    replica.beat(NODE, true, now_ms).await.unwrap();
    let image = primary.sku_images(SALE).await.unwrap().remove(0);
    assert_eq!((image.available, image.orders.len()), (7, 2));
    let ids = [order(SALE, "a", 2).order_id];
    assert_eq!(primary.existing(&ids).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_replica_that_is_not_there_costs_nothing_but_time() {
    let (primary, _) = two_databases().await;
    let nobody = "mysql://root@127.0.0.1:1/flash";
    let primary = primary.with_replica(nobody).unwrap();
    assert_eq!(read(&primary).await, (ReadFrom::Primary, 2));
}
