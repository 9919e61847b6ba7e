//! A Poisson process given its number of arrivals: their places are that many independent even draws,
//! in order.
//!
//! The draws are counted into cells of about [`PER_CELL`] once; how many fall into a cell and where in
//! it they fall are independent of each other, so the places come from a second stream and only those
//! of one cell are ever sorted. Any place is found alone, in the same time however many there are.

use super::random::{below, draw, stream};

const PER_CELL: u64 = 64;

#[derive(Debug)]
pub struct Poisson {
    /// The length over which the arrivals fall.
    units: u64,
    /// Arrivals before each cell, and at the end all of them.
    before: Vec<u64>,
    places: u64,
}

/// The sorted places of one cell; walking on within it costs nothing.
#[derive(Debug, Default)]
pub struct Cell {
    /// Indexes of its arrivals.
    first: u64,
    places: Vec<u64>,
}

impl Poisson {
    /// `count` arrivals over `units`. Takes one draw for each.
    pub fn new(count: u64, units: u64, seed: u64) -> Self {
        let cells = count.div_ceil(PER_CELL).max(1);
        let mut before = vec![0_u64; cells as usize + 1];
        let counts = stream(seed, "arrival cells");
        for index in 0..count {
            before[below(draw(counts, index), cells) as usize + 1] += 1;
        }
        for cell in 1..before.len() {
            before[cell] += before[cell - 1];
        }
        Self {
            units,
            before,
            places: stream(seed, "arrival places"),
        }
    }

    /// Where arrival `index` falls, less than `units`; `cell` is kept for the arrivals beside it.
    pub fn place(&self, index: u64, cell: &mut Cell) -> u64 {
        if !cell.holds(index) {
            self.enter(index, cell);
        }
        let at = usize::try_from(index - cell.first).unwrap_or(usize::MAX);
        cell.places.get(at).copied().unwrap_or(self.units)
    }

    fn enter(&self, index: u64, cell: &mut Cell) {
        let at = self.before.partition_point(|before| *before <= index) - 1;
        cell.places.clear();
        cell.first = index;
        let Some(&end) = self.before.get(at + 1) else {
            return;
        };
        cell.first = self.before[at];
        let (from, to) = (self.border(at), self.border(at + 1));
        let drawn = (cell.first..end).map(|one| from + below(draw(self.places, one), to - from));
        cell.places.extend(drawn);
        cell.places.sort_unstable();
    }

    fn border(&self, cell: usize) -> u64 {
        let cells = self.before.len() as u128 - 1;
        (u128::from(self.units) * cell as u128 / cells) as u64
    }
}

impl Cell {
    fn holds(&self, index: u64) -> bool {
        (self.first..self.first + self.places.len() as u64).contains(&index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNT: u64 = 200_000;
    const UNITS: u64 = 1_000_000_007;

    fn all(poisson: &Poisson, count: u64) -> Vec<u64> {
        let mut cell = Cell::default();
        (0..count)
            .map(|index| poisson.place(index, &mut cell))
            .collect()
    }

    #[test]
    fn places_are_in_order_in_range_and_the_same_however_asked() {
        for (count, units) in [(0, 0), (1, 3), (63, 100), (5_000, 77), (5_000, UNITS)] {
            let poisson = Poisson::new(count, units, 7);
            let places = all(&poisson, count);
            assert!(places.is_sorted(), "{count} in {units}");
            assert!(places.iter().all(|place| *place < units));
            for index in (0..count).rev().step_by(7) {
                let alone = poisson.place(index, &mut Cell::default());
                assert_eq!(alone, places[index as usize], "{index} of {count}");
            }
            assert_eq!(poisson.place(count, &mut Cell::default()), units);
        }
    }

    #[test]
    fn seeds_differ() {
        let of = |seed| all(&Poisson::new(100, UNITS, seed), 100);
        assert_eq!(of(7), of(7));
        assert_ne!(of(7), of(8));
    }

    /// Mean of the squared distance from the mean, and the mean.
    fn variance_and_mean(values: &[f64]) -> (f64, f64) {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let squares = values.iter().map(|value| (value - mean).powi(2));
        (squares.sum::<f64>() / values.len() as f64, mean)
    }

    #[test]
    fn counts_per_window_vary_as_much_as_they_are_many() {
        // Windows smaller than, as large as and larger than a cell, at borders that are not the cells'.
        for windows in [20_011_u64, 3_001, 307] {
            let mut counts = vec![0.0; windows as usize];
            for place in all(&Poisson::new(COUNT, UNITS, 7), COUNT) {
                let at = u128::from(place) * u128::from(windows) / u128::from(UNITS);
                counts[at as usize] += 1.0;
            }
            let (variance, mean) = variance_and_mean(&counts);
            // The ratio's own deviation is sqrt(2 / windows): four of them.
            let allowed = 4.0 * (2.0 / windows as f64).sqrt();
            let ratio = variance / mean;
            assert!((ratio - 1.0).abs() < allowed, "{windows}: {ratio}");
        }
    }

    #[test]
    fn distances_vary_as_those_of_independent_arrivals() {
        let places = all(&Poisson::new(COUNT, UNITS, 7), COUNT);
        let distances: Vec<f64> = places.windows(2).map(|p| (p[1] - p[0]) as f64).collect();
        let (variance, mean) = variance_and_mean(&distances);
        let variation = variance.sqrt() / mean;
        assert!((variation - 1.0).abs() < 0.01, "{variation}");
        let longer = distances.iter().filter(|one| **one > mean).count() as f64;
        let share = longer / distances.len() as f64;
        assert!((share - (-1.0_f64).exp()).abs() < 0.005, "{share}");
    }
}
