//! The drills there are: files below a `drills` folder, named by their place.

use std::path::{Path, PathBuf};

/// Folders below the drills that hold other files.
const OTHERS: [&str; 2] = ["targets", "endpoints"];

/// Drill files below `folder`, sorted by name.
///
/// # Errors
/// The folder cannot be read.
pub fn all(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() && !OTHERS.iter().any(|other| path.ends_with(other)) {
            found.extend(all(&path)?);
        } else if path.extension().is_some_and(|ending| ending == "toml") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// The file meant by a word of the command line: a path, or a name such as `redis/primary-kill`.
pub fn find(folder: &Path, word: &str) -> PathBuf {
    let path = PathBuf::from(word);
    if path.exists() {
        return path;
    }
    let named = folder.join(format!("{word}.toml"));
    if named.exists() { named } else { path }
}
