//! Named random streams of a seed, as pure functions of an index: what one stream gives never depends
//! on how much was taken from another.

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// A named stream of a seed.
pub fn stream(seed: u64, name: &str) -> u64 {
    xxh3_64_with_seed(name.as_bytes(), seed)
}

pub fn draw(stream: u64, index: u64) -> u64 {
    xxh3_64_with_seed(&index.to_le_bytes(), stream)
}

/// Evenly to `0..limit`, by the high half of the product.
pub fn below(random: u64, limit: u64) -> u64 {
    ((u128::from(random) * u128::from(limit)) >> 64) as u64
}

/// Evenly to `0.0..1.0`: 53 bits, what a double holds exactly.
pub fn unit(random: u64) -> f64 {
    (random >> 11) as f64 / (1_u64 << 53) as f64
}
