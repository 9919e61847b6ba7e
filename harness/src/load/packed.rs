//! A histogram as text: HdrHistogram V2, deflated, in base64, which every HdrHistogram library reads.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use hdrhistogram::{Counter, Histogram};
use serde::{Deserialize, Serialize};

use super::latency::SecondTimes;

pub fn pack<C: Counter>(histogram: &Histogram<C>) -> String {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new()
        .serialize(histogram, &mut bytes)
        .expect("a vector takes every write, and counts of one load fit");
    BASE64.encode(bytes)
}

/// # Errors
/// The text holds no histogram.
pub fn unpack<C: Counter>(text: &str) -> Result<Histogram<C>, String> {
    let bytes = BASE64.decode(text).map_err(|error| error.to_string())?;
    Deserializer::new()
        .deserialize(&mut bytes.as_slice())
        .map_err(|error| format!("no histogram: {error:?}"))
}

/// The times of one second, packed for keeping; what was read from a file has been unpacked once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct Packed(String);

impl Packed {
    pub fn of(times: &SecondTimes) -> Self {
        Self(pack(times.histogram()))
    }

    pub fn unpacked(&self) -> SecondTimes {
        SecondTimes::unpacked(&self.0).expect("it was packed here, or tried when it was read")
    }

    pub fn add(&mut self, other: &Self) {
        let mut sum = self.unpacked();
        sum.add(&other.unpacked());
        *self = Self::of(&sum);
    }
}

impl TryFrom<String> for Packed {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        SecondTimes::unpacked(&text)?;
        Ok(Self(text))
    }
}
