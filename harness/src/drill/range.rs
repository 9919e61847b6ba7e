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

impl std::str::FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let value: f64 = text.parse().map_err(|_| format!("`{text}` is no number"))?;
        Self::new(value).map_err(|OutOfRange(why)| why)
    }
}

/// Requests per second: 0 to a million.
#[derive(Debug, Clone, Copy, PartialEq, Deserr)]
#[deserr(try_from(f64) = Rate::new -> OutOfRange)]
pub struct Rate(f64);

impl Rate {
    /// # Errors
    /// A rate that no load can have.
    pub fn new(value: f64) -> Result<Self, OutOfRange> {
        match value {
            0.0..=1e6 => Ok(Self(value)),
            _ => Err(OutOfRange(format!(
                "{value} is no rate; expected 0 to 1000000 per second"
            ))),
        }
    }

    pub fn get(self) -> f64 {
        self.0
    }
}

/// What something is multiplied by: 0 to a thousand.
#[derive(Debug, Clone, Copy, PartialEq, Deserr)]
#[deserr(try_from(f64) = Factor::new -> OutOfRange)]
pub struct Factor(f64);

impl Factor {
    /// # Errors
    /// A value that is negative, above a thousand, or not a number.
    pub fn new(value: f64) -> Result<Self, OutOfRange> {
        match value {
            0.0..=1e3 => Ok(Self(value)),
            _ => Err(OutOfRange(format!(
                "{value} is no factor; expected 0 to 1000"
            ))),
        }
    }

    pub fn get(self) -> f64 {
        self.0
    }
}

/// How much longer each wait is than the one before: 1 (equal) to 100.
#[derive(Debug, Clone, Copy, PartialEq, Deserr)]
#[deserr(try_from(f64) = Backoff::new -> OutOfRange)]
pub struct Backoff(f64);

impl Backoff {
    /// # Errors
    /// A value below 1 or above 100, or not a number.
    pub fn new(value: f64) -> Result<Self, OutOfRange> {
        match value {
            1.0..=100.0 => Ok(Self(value)),
            _ => Err(OutOfRange(format!(
                "{value} is no backoff; expected 1 to 100"
            ))),
        }
    }

    pub fn get(self) -> f64 {
        self.0
    }
}

/// A count or a time that must be at least 1 and fits 32 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserr, Serialize, Deserialize)]
#[deserr(try_from(u64) = Count::new -> OutOfRange)]
#[serde(transparent)]
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
