//! Reading a target file. What is written is what is used, so one set of types serves for both.

use std::path::Path;

use super::Target;
use crate::drill::file::{FileError, read_toml};
use crate::drill::problems::Problems;

/// Reads a target file.
///
/// # Errors
/// Every mistake, with its key path.
pub fn load(path: &Path) -> Result<Target, FileError> {
    let value = serde_json::Value::Object(read_toml(path)?);
    deserr::deserialize::<Target, _, Problems>(value).map_err(|problems| FileError::Wrong {
        path: path.to_owned(),
        problems,
    })
}
