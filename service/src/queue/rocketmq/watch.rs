//! Watches the broker: who needs it learns within a second that it is gone, and when it is back.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::{Instant, timeout};

use super::{QueueError, admin};

/// Pause between probes while all is well, and while the broker is gone.
const PROBE_EVERY: Duration = Duration::from_millis(500);
const PROBE_EVERY_WHILE_DOWN: Duration = Duration::from_millis(200);
/// So many failed calls within the window although the broker answers probes: the client itself is stuck.
const STRIKES_MAX: u32 = 3;
const STRIKE_WINDOW: Duration = Duration::from_secs(5);
/// So many unanswered probes in a row, while no call fails, mean an outage. One only means a busy machine.
const SILENCES_MAX: u32 = 2;
/// How long a start waits for a broker that is still booting (5 s alone, 20 s on a machine that compiles).
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// What is known about the broker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Condition {
    Up,
    /// A call failed; the probe has not said yet what that means.
    Suspected,
    Down,
}

/// The broker's state for its users.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Health {
    pub condition: Condition,
    /// Grows with every outage; a client built in an earlier epoch must be replaced.
    pub epoch: u64,
}

impl Health {
    pub fn is_up(self) -> bool {
        self.condition == Condition::Up
    }
}

/// Handle on the watching task, which ends with the last handle.
#[derive(Clone)]
pub(super) struct BrokerWatch {
    health: watch::Sender<Health>,
    suspicion: Arc<Notify>,
}

impl BrokerWatch {
    /// Waits until the broker has the topic, then keeps watching it.
    pub async fn start(namesrv: &str, topic: &str) -> Result<Self, QueueError> {
        let brokers = wait_for_topic(namesrv, topic).await?;
        let health = watch::Sender::new(Health {
            condition: Condition::Up,
            epoch: 0,
        });
        let suspicion = Arc::new(Notify::new());
        let prober = Prober {
            namesrv: namesrv.to_owned(),
            topic: topic.to_owned(),
            brokers,
            strikes: Strikes::default(),
            silences: 0,
        };
        tokio::spawn(prober.run(health.clone(), Arc::clone(&suspicion)));
        Ok(Self { health, suspicion })
    }

    /// The state at this moment.
    pub fn health(&self) -> Health {
        *self.health.borrow()
    }

    /// A receiver to wait on.
    pub fn subscribe(&self) -> watch::Receiver<Health> {
        self.health.subscribe()
    }

    /// A call failed: nobody uses the broker until a probe has answered.
    pub fn suspect(&self) {
        let changed = self.health.send_if_modified(|health| {
            let was_up = health.is_up();
            if was_up {
                health.condition = Condition::Suspected;
            }
            was_up
        });
        if changed {
            self.suspicion.notify_one();
        }
    }
}

async fn wait_for_topic(namesrv: &str, topic: &str) -> Result<Vec<String>, QueueError> {
    let deadline = Instant::now() + START_TIMEOUT;
    loop {
        match admin::ensure_topic(namesrv, topic).await {
            Ok(brokers) => return Ok(brokers),
            Err(last) if Instant::now() >= deadline => {
                return Err(QueueError::NotReady {
                    after: START_TIMEOUT,
                    last: Box::new(last),
                });
            }
            Err(_) => tokio::time::sleep(PROBE_EVERY_WHILE_DOWN).await,
        }
    }
}

/// The task behind a [`BrokerWatch`].
struct Prober {
    namesrv: String,
    topic: String,
    brokers: Vec<String>,
    strikes: Strikes,
    silences: u32,
}

impl Prober {
    async fn run(mut self, health: watch::Sender<Health>, suspicion: Arc<Notify>) {
        // Only this task's sender is left: nobody watches any more.
        while health.sender_count() > 1 {
            let condition = health.borrow().condition;
            let pause = match condition {
                Condition::Up => PROBE_EVERY,
                Condition::Suspected | Condition::Down => PROBE_EVERY_WHILE_DOWN,
            };
            if condition != Condition::Suspected {
                // Either the pause ends or somebody suspects the broker.
                let _ = timeout(pause, suspicion.notified()).await;
            }
            // Read again: the suspicion may have come during the pause.
            let condition = health.borrow().condition;
            let probed = self.probe(condition).await;
            health.send_if_modified(|health| self.judge(health, &probed));
        }
    }

    /// In an outage more is asked: the topic must be there and known to the name server, or a new client would
    /// find no route.
    async fn probe(&mut self, condition: Condition) -> Result<(), QueueError> {
        if condition == Condition::Down {
            self.brokers = admin::ensure_topic(&self.namesrv, &self.topic).await?;
        }
        for broker in &self.brokers {
            admin::probe(broker, &self.topic).await?;
        }
        Ok(())
    }

    /// Changes the health by a probe's answer; true if it changed.
    fn judge(&mut self, health: &mut Health, probed: &Result<(), QueueError>) -> bool {
        let before = *health;
        match probed {
            Err(QueueError::NoAnswer { .. }) => self.silences += 1,
            _ => self.silences = 0,
        }
        match (before.condition, probed) {
            (Condition::Up, Ok(())) => {}
            (Condition::Suspected, Ok(())) => {
                health.condition = Condition::Up;
                health.epoch += u64::from(self.strikes.exhausted(Instant::now()));
            }
            (Condition::Down, Ok(())) => {
                health.condition = Condition::Up;
                health.epoch += 1;
                tracing::info!(epoch = health.epoch, "RocketMQ broker is back");
            }
            (Condition::Up, Err(QueueError::NoAnswer { .. })) if self.silences < SILENCES_MAX => {}
            (Condition::Up | Condition::Suspected, Err(error)) => {
                health.condition = Condition::Down;
                tracing::warn!(%error, "RocketMQ broker is not usable");
            }
            (Condition::Down, Err(_)) => {}
        }
        *health != before
    }
}

/// Counts unexplained failures.
#[derive(Default)]
struct Strikes {
    count: u32,
    first: Option<Instant>,
}

impl Strikes {
    /// Counts one; true (and starts anew) if there have been too many within the window.
    fn exhausted(&mut self, now: Instant) -> bool {
        match self.first {
            Some(first) if now - first <= STRIKE_WINDOW => self.count += 1,
            _ => {
                self.first = Some(now);
                self.count = 1;
            }
        }
        let exhausted = self.count >= STRIKES_MAX;
        if exhausted {
            *self = Self::default();
        }
        exhausted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prober() -> Prober {
        Prober {
            namesrv: String::new(),
            topic: String::new(),
            brokers: Vec::new(),
            strikes: Strikes::default(),
            silences: 0,
        }
    }

    #[test]
    fn probes_decide() {
        use Condition::{Down, Suspected, Up};
        let table = [
            // before, probe succeeded, after, epochs passed
            (Up, true, Up, 0),
            (Up, false, Down, 0),
            (Suspected, true, Up, 0),
            (Suspected, false, Down, 0),
            (Down, false, Down, 0),
            (Down, true, Up, 1),
        ];
        for (before, succeeded, after, epochs) in table {
            let mut health = Health {
                condition: before,
                epoch: 7,
            };
            let probed = if succeeded {
                Ok(())
            } else {
                Err(QueueError::Disconnected)
            };
            let changed = prober().judge(&mut health, &probed);
            assert_eq!(health.condition, after, "{before:?} {succeeded}");
            assert_eq!(health.epoch, 7 + epochs, "{before:?} {succeeded}");
            assert_eq!(changed, before != after);
        }
    }

    #[test]
    fn one_unanswered_probe_is_no_outage_unless_a_call_failed_too() {
        let silence = || {
            Err(QueueError::NoAnswer {
                peer: String::new(),
                request: "a test",
                after: ANY_TIME,
            })
        };
        let mut health = Health {
            condition: Condition::Up,
            epoch: 0,
        };
        let mut prober = prober();
        for probed in [silence(), Ok(()), silence()] {
            prober.judge(&mut health, &probed);
            assert!(health.is_up(), "{probed:?}");
        }
        prober.judge(&mut health, &silence());
        assert_eq!(health.condition, Condition::Down);
        health.condition = Condition::Suspected;
        self::prober().judge(&mut health, &silence());
        assert_eq!(health.condition, Condition::Down);
    }

    const ANY_TIME: Duration = Duration::from_secs(1);

    #[test]
    fn a_client_that_keeps_failing_beside_a_healthy_broker_is_replaced() {
        let mut prober = prober();
        let mut epochs = Vec::new();
        let mut health = Health {
            condition: Condition::Up,
            epoch: 0,
        };
        for _ in 0..4 {
            health.condition = Condition::Suspected;
            prober.judge(&mut health, &Ok(()));
            epochs.push(health.epoch);
        }
        assert_eq!(epochs, [0, 0, 1, 1]);
    }

    #[test]
    fn old_strikes_are_forgotten() {
        let mut strikes = Strikes::default();
        let start = Instant::now();
        assert!(!strikes.exhausted(start));
        assert!(!strikes.exhausted(start + STRIKE_WINDOW));
        assert!(!strikes.exhausted(start + STRIKE_WINDOW * 3));
        assert!(!strikes.exhausted(start + STRIKE_WINDOW * 3));
        assert!(strikes.exhausted(start + STRIKE_WINDOW * 3));
    }
}
