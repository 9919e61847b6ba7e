//! Numbers with bounds, so that a value out of range is reported with all other mistakes of a file.

use deserr::Deserr;
use serde::{Deserialize, Serialize};

use super::problems::OutOfRange;

/// A share of 1: 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Deserr, Serialize, Deserialize)]
#[deserr(try_from(f64) = Share::new -> OutOfRange)]
#[serde(transparent)]
pub struct Share(f64);

impl Share {
    /// # Errors
    /// A value below 0 or above 1, or not a number.
    pub fn new(value: f64) -> Result<Self, OutOfRange> {
        match value {
            0.0..=1.0 => Ok(Self(value)),
            _ => Err(OutOfRange(format!("{value} is no share; expected 0 to 1"))),
        }
    }

    pub fn get(self) -> f64 {
        self.0
    }
}

/// Requests per second: above 0, at most a million.
#[derive(Debug, Clone, Copy, PartialEq, Deserr)]
#[deserr(try_from(f64) = Rate::new -> OutOfRange)]
pub struct Rate(f64);

impl Rate {
    /// # Errors
    /// A rate that no load can have.
    pub fn new(value: f64) -> Result<Self, OutOfRange> {
        if value > 0.0 && value <= 1e6 {
            return Ok(Self(value));
        }
        Err(OutOfRange(format!(
            "{value} is no rate; expected above 0, at most 1000000 per second"
        )))
    }

    pub fn get(self) -> f64 {
        self.0
    }
}

/// A count or a time that must be at least 1 and fits 32 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserr)]
#[deserr(try_from(u64) = Count::new -> OutOfRange)]
pub struct Count(u32);

impl Count {
    /// # Errors
    /// 0, or more than 32 bits hold.
    pub fn new(value: u64) -> Result<Self, OutOfRange> {
        match u32::try_from(value) {
            Ok(count @ 1..) => Ok(Self(count)),
            _ => Err(OutOfRange(format!(
                "{value} is out of range; expected 1 to {}",
                u32::MAX
            ))),
        }
    }

    pub fn get(self) -> u32 {
        self.0
    }
}
