//! What a node does by itself, by its role, and what that is made of.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use metrics_exporter_prometheus::PrometheusHandle;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::Base;
use crate::gateway::App;
use crate::operations::letter_schedule::LetterSchedule;
use crate::queue::applier::Applier;
use crate::queue::outages::tell_outages;
use crate::queue::outbox::Relay;
use crate::queue::rocketmq::Publisher;
use crate::queue::stream::StreamConsumer;
use crate::queue::{Queues, Way};
use crate::reconcile::check_back::CheckedBack;
use crate::reconcile::follower::Follower;
use crate::reconcile::keeper::Keeper;
use crate::reconcile::quiet::{Closing, Quieter};
use crate::reconcile::rebuild::Rebuilder;
use crate::reconcile::sweep::Sweep;
use crate::settings::Settings;
use crate::store::{Applied, Entry, StoreError};

impl Base {
    /// Learns the sales from MySQL and starts the tasks of this node's role; returns what the gateway needs.
    ///
    /// # Errors
    /// MySQL does not answer.
    pub async fn start(
        &self,
        settings: &Settings,
        queues: Queues,
        publisher: Option<Publisher>,
        prometheus: PrometheusHandle,
        tasks: &mut JoinSet<()>,
    ) -> Result<App, StoreError> {
        let (closing, closing_now) = watch::channel(Vec::new());
        let follower = self.follower(closing);
        follower.read().await?;
        tasks.spawn(follower.run());
        tasks.spawn(self.quieter(queues.clone()).run(closing_now));
        let connected = (queues.clone(), Arc::clone(&self.catalogue));
        let is_connected = move || connected.0.are_connected(&connected.1);
        tasks.spawn(tell_outages(is_connected, self.alerts.clone()));
        if self.role.is_keeper() {
            let keeper = Keeper {
                node: self.node.clone(),
                catalogue: Arc::clone(&self.catalogue),
                rebuilder: self.rebuilder(settings, queues.clone()),
                checked_back: CheckedBack::default(),
            };
            tasks.spawn(keeper.run());
            tasks.spawn(self.releases.clone().run());
            tasks.spawn(self.letter_schedule(settings).run());
        }
        tasks.spawn(self.sweep().run());
        if self.role.is_consumer() {
            tasks.spawn(self.stream_consumer(settings).run());
        }
        if let Some(publisher) = publisher {
            tasks.spawn(self.relay(settings, publisher).run());
        }
        if self.role.is_gateway() {
            for Way { queue, congestion } in queues.all().map(Way::clone) {
                tasks.spawn(congestion.watch(queue, settings.backlog_max));
            }
        }
        Ok(self.app(settings, queues, prometheus))
    }

    fn stream_consumer(
        &self,
        settings: &Settings,
    ) -> StreamConsumer<impl Fn(&[Applied]) + Send + Sync + 'static> {
        let news = self.news.clone();
        StreamConsumer {
            name: self.node.clone(),
            catalogue: Arc::clone(&self.catalogue),
            stock: self.stock.clone(),
            applier: Applier {
                store: self.store.clone(),
                entry: Entry::Delivered,
                batch_max: settings.batch_max(),
                age_max: settings.message_age_max(),
                on_applied: Arc::new(move |applied: &[Applied]| news.tell(applied)),
                is_stuck: Arc::default(),
                stopped: self.stop.subscribe(),
            },
        }
    }

    fn letter_schedule(&self, settings: &Settings) -> LetterSchedule {
        LetterSchedule {
            desk: self.letters(),
            alerts: self.alerts.clone(),
            node: self.node.clone(),
            interval: Duration::from_secs(settings.dead_letter_retry_s),
            tries_max: settings.dead_letter_tries_max,
        }
    }

    fn relay(&self, settings: &Settings, publisher: Publisher) -> Relay {
        Relay {
            store: self.store.clone(),
            publisher,
            metrics: self.metrics.clone(),
            writer: self.writer.clone(),
            poll: Duration::from_millis(settings.relay_poll_ms),
        }
    }

    fn follower(&self, closing: watch::Sender<Vec<Closing>>) -> Follower {
        Follower {
            node: self.node.clone(),
            is_gateway: self.role.is_gateway(),
            catalogue: Arc::clone(&self.catalogue),
            stock: self.stock.clone(),
            store: self.store.clone(),
            alerts: self.alerts.clone(),
            closing,
        }
    }

    fn quieter(&self, queues: Queues) -> Quieter {
        Quieter {
            node: self.node.clone(),
            promises: Arc::clone(&self.promises),
            store: self.store.clone(),
            queues,
            metrics: self.metrics.clone(),
            alerts: self.alerts.clone(),
            waits: HashMap::new(),
        }
    }

    fn rebuilder(&self, settings: &Settings, queues: Queues) -> Rebuilder {
        Rebuilder {
            stock: self.stock.clone(),
            store: self.store.clone(),
            queues,
            lately: Arc::clone(&self.lately),
            metrics: self.metrics.clone(),
            alerts: self.alerts.clone(),
            hold: settings.hold(),
        }
    }

    fn sweep(&self) -> Sweep {
        Sweep {
            catalogue: Arc::clone(&self.catalogue),
            promises: Arc::clone(&self.promises),
            stock: self.stock.clone(),
            store: self.store.clone(),
            metrics: self.metrics.clone(),
        }
    }
}
