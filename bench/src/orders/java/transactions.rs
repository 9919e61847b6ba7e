//! The line that the Java program prints.

use serde::{Deserialize, Serialize};

use super::error::JavaError;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Transactions {
    pub committed: u64,
    pub seconds: f64,
    pub committed_per_s: f64,
    pub failures: u64,
}

impl Transactions {
    /// From what was printed, of which the line is all that is JSON: libraries may say something before.
    ///
    /// # Errors
    /// There is no such line, it lacks a figure, or it says that nothing was committed.
    pub fn read(printed: &str) -> Result<Self, JavaError> {
        let line = printed.lines().find(|line| line.starts_with('{'));
        let line = line.ok_or_else(|| JavaError::NoFigures(printed.to_owned()))?;
        let read: Self = serde_json::from_str(line)?;
        if read.committed == 0 {
            return Err(JavaError::NothingCommitted {
                failures: read.failures,
            });
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str =
        r#"{"committed":36241,"seconds":10.004,"committed_per_s":3622.7,"failures":2}"#;

    #[test]
    fn the_line_is_found_and_read() {
        let read = Transactions::read(&format!("WARNING: a library says something\n{LINE}\n"));
        let expected = Transactions {
            committed: 36_241,
            seconds: 10.004,
            committed_per_s: 3_622.7,
            failures: 2,
        };
        assert_eq!(read.unwrap(), expected);
    }

    #[test]
    fn what_is_not_understood_is_said() {
        let cases = [
            (String::new(), "printed no figures but \"\""),
            ("Killed".to_owned(), "printed no figures but \"Killed\""),
            (LINE.replace('}', ""), "figures: EOF while parsing"),
            (LINE.replace("36241", "-1"), "figures: invalid value"),
            (LINE.replace("36241", "0"), "committed, 2 failed"),
        ];
        for (printed, why) in cases {
            let error = Transactions::read(&printed).unwrap_err().to_string();
            assert!(error.contains(why), "{printed}: {error}");
        }
    }

    #[test]
    fn every_figure_is_needed() {
        for name in ["committed", "seconds", "committed_per_s", "failures"] {
            let without = LINE.replace(&format!("\"{name}\""), "\"other\"");
            let error = Transactions::read(&without).unwrap_err().to_string();
            assert!(
                error.contains(&format!("missing field `{name}`")),
                "{error}"
            );
        }
    }
}
