//! The decimal number of a header line, digit by digit.

use super::super::Strange;

/// A line `123\r\n`, of which any part may have come.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Number {
    value: i64,
    is_negative: bool,
    digits: u8,
    ends: bool,
}

impl Number {
    /// The number, once `byte` ends its line.
    pub fn push(&mut self, byte: u8) -> Result<Option<i64>, Strange> {
        match byte {
            b'\n' if self.ends && self.digits > 0 => {
                let value = if self.is_negative {
                    -self.value
                } else {
                    self.value
                };
                return Ok(Some(value));
            }
            b'\r' if !self.ends => self.ends = true,
            b'-' if self.digits == 0 && !self.is_negative => self.is_negative = true,
            b'0'..=b'9' if !self.ends && self.digits < 18 => {
                self.value = self.value * 10 + i64::from(byte - b'0');
                self.digits += 1;
            }
            _ => return Err(Strange),
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_ends_with_its_line() {
        let read = |text: &str| {
            let mut number = Number::default();
            text.bytes().try_fold(None, |_, byte| number.push(byte))
        };
        assert_eq!(read("123\r\n"), Ok(Some(123)));
        assert_eq!(read("-1\r\n"), Ok(Some(-1)));
        assert_eq!(read("12\r"), Ok(None));
        for strange in [
            "\r\n",
            "-\r\n",
            "--1",
            "1\n",
            "1x",
            "1\r2",
            "9999999999999999999",
        ] {
            assert_eq!(read(strange), Err(Strange), "{strange:?}");
        }
    }
}
