//! A folder for what a comparison writes, removed with it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Removed on drop, so also when a comparison ends with an error.
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// # Errors
    /// The system's scratch folder cannot be written to.
    pub fn new(name: &str) -> io::Result<Self> {
        let folder = format!("flashbench-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(folder);
        fs::create_dir_all(&path)?;
        Ok(Self(path))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What stays behind is in the system's scratch folder.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_there_until_it_is_dropped() {
        let scratch = Scratch::new("test-scratch").unwrap();
        let path = scratch.path().to_owned();
        fs::write(path.join("file"), "text").unwrap();
        drop(scratch);
        assert!(!path.exists());
    }
}
