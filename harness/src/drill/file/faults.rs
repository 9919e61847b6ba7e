//! `[[faults]]`: what breaks when. Also what `flashdrill fault inject` reads from its arguments.

use deserr::{Deserr, ErrorKind, IntoValue, Map, Value, ValueKind, ValuePointerRef};

use crate::drill::problems::Problems;
use crate::drill::range::Count;
use crate::faults::Fault;

/// The keys that every fault has, and its own.
#[derive(Debug, Clone)]
pub struct FaultSection {
    /// From the first arrival; a drill must say it.
    pub at_ms: Option<u64>,
    /// From the injection to the heal; a change of state has none.
    pub for_ms: Option<Count>,
    pub fault: Fault,
}

impl Deserr<Problems> for FaultSection {
    /// By hand: the kind says which other keys there may be.
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        let mut map = match value {
            Value::Map(map) => map,
            other => return Err(no_table(other, location)),
        };
        let mut problems = Problems::default();
        let at_ms = key(&mut map, "at_ms", location, &mut problems);
        let for_ms = key(&mut map, "for_ms", location, &mut problems);
        let kind: Option<Option<String>> = key(&mut map, "kind", location, &mut problems);
        let fault = match kind {
            Some(Some(kind)) => Fault::read::<V>(&kind, Value::Map(map), location)
                .map_err(|found| problems.0.extend(found.0))
                .ok(),
            Some(None) => {
                let missing = ErrorKind::MissingField { field: "kind" };
                problems.0.extend(Problems::one::<V>(missing, location).0);
                None
            }
            None => None,
        };
        let section = (|| {
            Some(Self {
                at_ms: at_ms?,
                for_ms: for_ms?,
                fault: fault?,
            })
        })();
        problems.or(section)
    }
}

/// A key that may be absent; None when it is wrong.
fn key<T: Deserr<Problems>, M: Map>(
    map: &mut M,
    name: &str,
    location: ValuePointerRef<'_>,
    problems: &mut Problems,
) -> Option<Option<T>> {
    let Some(value) = map.remove(name) else {
        return Some(None);
    };
    let place = location.push_key(name);
    T::deserialize_from_value(value.into_value(), place)
        .map(Some)
        .map_err(|found| problems.0.extend(found.0))
        .ok()
}

fn no_table<V: IntoValue>(value: Value<V>, location: ValuePointerRef<'_>) -> Problems {
    let kind = ErrorKind::IncorrectValueKind {
        actual: value,
        accepted: &[ValueKind::Map],
    };
    Problems::one(kind, location)
}
