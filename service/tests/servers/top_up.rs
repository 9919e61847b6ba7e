//! Units that come while the sale is open: once, into both stores, and never beside the sale.

use std::sync::Arc;
use std::time::Duration;

use flashsale::sale::sku::Rules;
use flashsale::store::{SaleState, StoreError, TopUp};

use crate::support::mariadb;
use crate::support::shop::{SALE, SKU, ShopBench, queued};

fn top_up(id: &str, units: u32) -> TopUp {
    TopUp {
        id: id.to_owned(),
        sale: SALE.to_owned(),
        sku: SKU.to_owned(),
        units,
        asked_by: "Ann".to_owned(),
        approved_by: "Bob".to_owned(),
    }
}

#[tokio::test]
async fn under_one_id_units_are_added_once_and_only_to_what_is_on_sale() {
    let store = mariadb::selling(SALE, Rules::default(), &[(SKU, 2)]).await;
    let closed = store.top_up(&top_up("t-1", 3)).await.unwrap_err();
    assert!(matches!(closed, StoreError::SaleNotOpen { .. }), "{closed}");
    store.set_sale_state(SALE, SaleState::Open).await.unwrap();
    let unknown = TopUp {
        sku: "other".to_owned(),
        ..top_up("t-1", 3)
    };
    let missing = store.top_up(&unknown).await.unwrap_err();
    assert!(matches!(missing, StoreError::NoSuchSku { .. }), "{missing}");

    // What was refused has not used the id up.
    for _ in 0..2 {
        store.top_up(&top_up("t-1", 3)).await.unwrap();
    }
    let other = store.top_up(&top_up("t-1", 4)).await.unwrap_err();
    assert!(
        matches!(other, StoreError::TopUpTaken { units: 3, .. }),
        "{other}"
    );
    store.top_up(&top_up("t-2", 1)).await.unwrap();
    let image = store.sku_images(SALE).await.unwrap().remove(0);
    assert_eq!((image.total, image.available), (6, 6));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_call_many_times_at_once_adds_once() {
    let store = mariadb::selling(SALE, Rules::default(), &[(SKU, 2)]).await;
    store.set_sale_state(SALE, SaleState::Open).await.unwrap();
    let calls = (0..8).map(|_| {
        let store = store.clone();
        tokio::spawn(async move { store.top_up(&top_up("t-1", 3)).await })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.unwrap().unwrap();
    }
    let image = store.sku_images(SALE).await.unwrap().remove(0);
    assert_eq!((image.total, image.available), (5, 5));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_sold_out_sells_again_and_exactly_what_came() {
    let bench = ShopBench::start(2, 1, Duration::ZERO).await;
    bench.open().await;
    assert_eq!(queued(&bench.buy_all(0..5).await), 2);
    assert_eq!(bench.settled().await, (0, 2));

    bench.app.sales.top_up(&top_up("t-1", 3)).await.unwrap();
    assert_eq!(queued(&bench.buy_all(10..20).await), 3);
    assert_eq!(bench.settled().await, (0, 5));
}

#[tokio::test(flavor = "multi_thread")]
async fn units_that_come_while_orders_are_on_their_way_are_sold_once() {
    let bench = Arc::new(ShopBench::start_nodes(2, 20, 1, Duration::from_millis(100)).await);
    bench.open().await;
    let buyers = Arc::clone(&bench);
    let buying = tokio::spawn(async move { buyers.buy_all(0..40).await });
    bench.app.sales.top_up(&top_up("t-1", 10)).await.unwrap();
    buying.await.unwrap();
    // Some of them were told to come again.
    bench.buy_all(40..90).await;
    assert_eq!(bench.settled().await, (0, 30));
}
