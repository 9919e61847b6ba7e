//! Endpoints that do not answer, told all at once.

use super::super::error::EnvironmentError;

#[derive(Debug, Default)]
pub(crate) struct Silences(Vec<EnvironmentError>);

impl Silences {
    /// The answer, if there is one.
    pub fn hear<T>(&mut self, answer: Result<T, EnvironmentError>) -> Option<T> {
        match answer {
            Ok(answer) => return Some(answer),
            Err(EnvironmentError::Silent(several)) => self.0.extend(several),
            Err(one) => self.0.push(one),
        }
        None
    }

    /// `all` when everybody has answered.
    ///
    /// # Errors
    /// Those who have not.
    pub fn or<T>(self, all: Option<T>) -> Result<T, EnvironmentError> {
        match all {
            Some(all) if self.0.is_empty() => Ok(all),
            _ => Err(EnvironmentError::Silent(self.0)),
        }
    }
}
