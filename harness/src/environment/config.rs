//! Server configuration files: templates of `compose/`, filled and written to the scratch folder.

use std::fs;
use std::path::Path;

use crate::target::template::{Variables, fill};

use super::error::EnvironmentError;
use super::run_folder::file_error;

pub(crate) const REDIS: &str = include_str!("../../../compose/redis.conf");
pub(crate) const MYSQL: &str = include_str!("../../../compose/my.cnf");
/// Taken as it is.
pub(crate) const MYSQL_INIT: &str = include_str!("../../../compose/init.sql");
pub(crate) const BROKER: &str = include_str!("../../../compose/broker.conf");

/// Fills `template` and writes it to `path`.
///
/// # Errors
/// A name the template has and `values` lack; a file that cannot be written.
pub(crate) fn write(
    template: &str,
    values: &[(&str, String)],
    path: &Path,
) -> Result<(), EnvironmentError> {
    let variables: Variables = values
        .iter()
        .map(|(name, value)| ((*name).to_owned(), value.clone()))
        .collect();
    let text = fill(template, &variables)
        .map_err(|e| EnvironmentError::step("configuration", &path.display().to_string(), e))?;
    fs::write(path, text).map_err(|source| file_error("write", path, source))
}
