//! `[[load.phases]]` and `[[load.on_top]]`: shapes of rate, one after the other and on top of that.

use deserr::{Deserr, ErrorKind, IntoValue, Map, Value, ValueKind, ValuePointerRef};

use crate::drill::problems::Problems;
use crate::drill::range::{Count, Factor, Rate};

/// A shape with a name.
#[derive(Debug)]
pub struct PhaseSection {
    pub name: String,
    pub shape: ShapeSection,
}

/// A shape that starts `at_ms` into the phases.
#[derive(Debug)]
pub struct OnTopSection {
    pub at_ms: u64,
    pub shape: ShapeSection,
}

#[derive(Debug, Clone, Deserr)]
#[deserr(tag = "shape", rename_all = lowercase, deny_unknown_fields, error = Problems)]
pub enum ShapeSection {
    Constant {
        rate_per_s: Rate,
        duration_ms: Count,
    },
    Ramp {
        from_per_s: Rate,
        to_per_s: Rate,
        duration_ms: Count,
    },
    Steps {
        from_per_s: Rate,
        to_per_s: Rate,
        steps: Count,
        duration_ms: Count,
    },
    Spike {
        base_per_s: Rate,
        peak_per_s: Rate,
        peak_at_ms: u64,
        peak_ms: Count,
        duration_ms: Count,
    },
    Cliff {
        before_per_s: Rate,
        before_ms: u64,
        peak_per_s: Rate,
        fall_ms: Count,
        after_per_s: Rate,
        duration_ms: Count,
    },
    Trace {
        /// CSV of `at_ms,requests`, relative to the drill file.
        file: String,
        #[deserr(default = Factor::new(1.0).expect("1 is a factor"))]
        rate_share: Factor,
    },
}

impl Deserr<Problems> for PhaseSection {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        let (name, shape) = shape_and("name", value, location)?;
        Ok(Self { name, shape })
    }
}

impl Deserr<Problems> for OnTopSection {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, Problems> {
        let (at_ms, shape) = shape_and("at_ms", value, location)?;
        Ok(Self { at_ms, shape })
    }
}

/// A table of a shape's keys and one key more.
fn shape_and<T: Deserr<Problems>, V: IntoValue>(
    key: &str,
    value: Value<V>,
    location: ValuePointerRef<'_>,
) -> Result<(T, ShapeSection), Problems> {
    let mut table = match value {
        Value::Map(table) => table,
        other => {
            let accepted = &[ValueKind::Map];
            let actual = other;
            return Err(Problems::one(
                ErrorKind::IncorrectValueKind { actual, accepted },
                location,
            ));
        }
    };
    let more = match table.remove(key) {
        Some(value) => T::deserialize_from_value(value.into_value(), location.push_key(key)),
        None => Err(Problems::one::<V>(
            ErrorKind::MissingField { field: key },
            location,
        )),
    };
    let shape = ShapeSection::deserialize_from_value(Value::<V>::Map(table), location);
    match (more, shape) {
        (Ok(more), Ok(shape)) => Ok((more, shape)),
        (more, shape) => {
            let mut problems = more.err().unwrap_or_default();
            problems.0.extend(shape.err().unwrap_or_default().0);
            Err(problems)
        }
    }
}
