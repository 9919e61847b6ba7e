//! Faults of MySQL, the broker, the service and the disk on real servers: they bite, the receipts say so, and
//! everything is healed. The stack is started once: the tests follow one another on it.

#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests may panic, as tests do"
)]

mod ground;
mod mysql;

use ground::Ground;

#[tokio::test(flavor = "multi_thread")]
async fn faults_of_servers_bite_and_heal() {
    let ground = Ground::start().await;
    mysql::a_held_row_lock_makes_writers_wait(&ground).await;
    mysql::a_lock_that_nobody_wants_has_no_receipt(&ground).await;
    mysql::a_read_only_server_refuses_the_service(&ground).await;
    mysql::connections_beyond_the_limit_are_refused(&ground).await;
    mysql::a_limit_that_nobody_meets_has_no_receipt(&ground).await;
    ground.stop().await;
}
