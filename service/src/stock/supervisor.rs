//! Keeps the lanes: finds the primaries, opens lanes to them, and asks regularly who answers.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::task::JoinSet;

use super::Stock;
use super::connection::Vitals;
use super::identity::Identities;
use super::lane::{Lane, LaneParts};
use super::topology::{Primary, Scout, Topology};
use super::view::{RangeLane, View};

/// Time between two looks while every slot is served.
const PROBE_INTERVAL: Duration = Duration::from_millis(500);

/// Time between two looks while some slot is not.
const SEARCH_INTERVAL: Duration = Duration::from_millis(100);

/// Owns the lanes and decides when one is replaced.
#[derive(Debug)]
pub struct Supervisor {
    scout: Scout,
    identities: Arc<Identities>,
    parts: Arc<LaneParts>,
    view: Arc<ArcSwap<View>>,
    /// What the last failed look said, so that an outage is logged once and not ten times a second.
    trouble: String,
}

impl Supervisor {
    /// A supervisor and the handle through which its lanes are used.
    #[must_use]
    pub fn new(scout: Scout, parts: LaneParts) -> (Self, Stock) {
        let (parts, view) = (
            Arc::new(parts),
            Arc::new(ArcSwap::from_pointee(View::default())),
        );
        let identities = Arc::<Identities>::default();
        let stock = Stock {
            view: Arc::clone(&view),
            identities: Arc::clone(&identities),
            parts: Arc::clone(&parts),
        };
        let supervisor = Self {
            scout,
            identities,
            parts,
            view,
            trouble: String::new(),
        };
        (supervisor, stock)
    }

    /// Runs until the task is aborted.
    pub async fn run(mut self) {
        loop {
            self.look().await;
            let interval = if self.view.load().is_complete() {
                PROBE_INTERVAL
            } else {
                SEARCH_INTERVAL
            };
            // A lane that closes is replaced at once, but a dead server is not asked in a busy loop.
            let hurry = async {
                tokio::time::sleep(SEARCH_INTERVAL).await;
                self.parts.closed.notified().await;
            };
            tokio::select! {
                () = tokio::time::sleep(interval) => {}
                () = hurry => {}
            }
        }
    }

    /// One look at the cluster, and what follows from it.
    pub async fn look(&mut self) {
        match self.scout.discover().await {
            Ok(topology) => {
                self.probe(&topology).await;
                let lanes = self.open_missing(&topology).await;
                self.adopt(&topology, &lanes);
            }
            Err(error) => self.report(error.to_string()),
        }
    }

    /// Asks every lane that is to be kept who answers now.
    async fn probe(&self, topology: &Topology) {
        let mut probes = JoinSet::new();
        for lane in self.view.load().lanes() {
            if topology
                .ranges
                .iter()
                .any(|range| range.primary == lane.primary)
            {
                probes.spawn(async move { lane.probe().await });
            } else {
                lane.close("the cluster has another primary for its slots");
            }
        }
        while probes.join_next().await.is_some() {}
    }

    /// An open lane for each primary, where one can be had.
    async fn open_missing(&mut self, topology: &Topology) -> HashMap<Primary, Arc<Lane>> {
        let mut lanes: HashMap<Primary, Arc<Lane>> = HashMap::new();
        for lane in self.view.load().lanes().filter(|lane| !lane.is_closed()) {
            lanes.insert(lane.primary.clone(), lane);
        }
        let mut opening = JoinSet::new();
        let mut asked = Vec::new();
        for primary in topology.ranges.iter().map(|range| &range.primary) {
            if !lanes.contains_key(primary) && !asked.contains(primary) {
                asked.push(primary.clone());
                opening.spawn(open(
                    primary.clone(),
                    Arc::clone(&self.identities),
                    Arc::clone(&self.parts),
                ));
            }
        }
        let mut trouble = String::new();
        while let Some(Ok(opened)) = opening.join_next().await {
            match opened {
                Ok(lane) => drop(lanes.insert(lane.primary.clone(), Arc::new(lane))),
                Err(error) => trouble = error.to_string(),
            }
        }
        self.report(trouble);
        lanes
    }

    fn adopt(&self, topology: &Topology, lanes: &HashMap<Primary, Arc<Lane>>) {
        let ranges = topology.ranges.iter().map(|range| RangeLane {
            start: range.start,
            end: range.end,
            lane: lanes.get(&range.primary).cloned(),
        });
        self.view.store(Arc::new(View {
            ranges: ranges.collect(),
        }));
    }

    fn report(&mut self, trouble: String) {
        if trouble != self.trouble {
            if !trouble.is_empty() {
                tracing::warn!(reason = trouble, "Redis cluster is not fully served");
            }
            self.trouble = trouble;
        }
    }
}

async fn open(
    primary: Primary,
    identities: Arc<Identities>,
    parts: Arc<LaneParts>,
) -> Result<Lane, super::lane::LaneError> {
    let identify =
        |primary: &Primary, vitals: &Vitals| identities.of(&primary.node_id, &vitals.run_id);
    let lane = Lane::open(primary, identify, Arc::clone(&parts)).await?;
    parts.metrics.lanes_opened.increment(1);
    tracing::info!(
        node = lane.identity.node_id,
        run = lane.identity.run_id,
        address = %lane.primary.address,
        identity = lane.identity.number,
        "lane to Redis primary opened"
    );
    Ok(lane)
}
