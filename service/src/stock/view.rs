//! Which lane serves which slots at the moment.

use std::sync::Arc;

use super::lane::Lane;

/// Slots `start..=end` and the lane to their primary, if one is open.
#[derive(Debug)]
pub struct RangeLane {
    pub start: u16,
    pub end: u16,
    pub lane: Option<Arc<Lane>>,
}

/// The cluster as this node can use it. Ranges are sorted and do not overlap.
#[derive(Debug, Default)]
pub struct View {
    pub ranges: Vec<RangeLane>,
}

impl View {
    #[must_use]
    pub fn lane(&self, slot: u16) -> Option<Arc<Lane>> {
        let behind = self.ranges.partition_point(|range| range.start <= slot);
        let range = self.ranges.get(behind.checked_sub(1)?)?;
        if slot <= range.end {
            range.lane.clone()
        } else {
            None
        }
    }

    /// Every slot of the cluster has an open lane.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let is_open = |range: &RangeLane| range.lane.as_ref().is_some_and(|lane| !lane.is_closed());
        let slots: u32 = self
            .ranges
            .iter()
            .filter(|range| is_open(range))
            .map(|range| u32::from(range.end) - u32::from(range.start) + 1)
            .sum();
        slots == 16384
    }

    /// Every lane once.
    pub fn lanes(&self) -> impl Iterator<Item = Arc<Lane>> {
        let mut lanes: Vec<Arc<Lane>> = Vec::new();
        for lane in self.ranges.iter().filter_map(|range| range.lane.as_ref()) {
            if !lanes.iter().any(|known| Arc::ptr_eq(known, lane)) {
                lanes.push(Arc::clone(lane));
            }
        }
        lanes.into_iter()
    }
}
