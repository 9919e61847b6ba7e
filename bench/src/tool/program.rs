//! Where programs are, and what they say of their version.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The program on the search path.
pub fn on_path(name: &str) -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    let mut programs = env::split_paths(&folders).map(|folder| folder.join(name));
    programs.find(|program| program.is_file())
}

/// The program that was built together with this one, else the one on the search path.
pub fn beside_us(name: &str) -> Option<PathBuf> {
    let beside = env::current_exe().ok()?.with_file_name(name);
    if beside.is_file() {
        Some(beside)
    } else {
        on_path(name)
    }
}

/// What a program prints, on both streams; some print their version together with an error.
pub fn printed(program: &Path, arguments: &[&str]) -> String {
    let Ok(output) = Command::new(program).args(arguments).output() else {
        return String::new();
    };
    let text = [output.stdout, output.stderr].concat();
    String::from_utf8_lossy(&text).into_owned()
}

/// The first word that looks like a version.
pub fn version_in(text: &str) -> String {
    let trimmed = |word: &str| {
        let word = word.trim_start_matches("debian/").trim_start_matches('v');
        word.trim_end_matches([',', ')']).to_owned()
    };
    let is_version = |word: &String| {
        word.starts_with(|first: char| first.is_ascii_digit()) && word.contains('.')
    };
    let mut words = text.split_whitespace().map(trimmed);
    words
        .find(is_version)
        .unwrap_or_else(|| "unknown".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_as_tools_print_them() {
        let cases = [
            (
                "wrk debian/4.1.0-3+b2 [epoll] Copyright (C) 2012 Will Glozer",
                "4.1.0-3+b2",
            ),
            ("wrk 4.0.0 [epoll] Copyright (C) 2012 Will Glozer", "4.0.0"),
            ("oha 1.16.0", "1.16.0"),
            ("flashdrill 0.1.0", "0.1.0"),
            ("k6 v1.2.3 (go1.24, linux/amd64)", "1.2.3"),
            (
                "\tmod\tgithub.com/tsenart/vegeta/v12\tv12.13.0\th1:abc=",
                "12.13.0",
            ),
            ("Version: \nCommit: ", "unknown"),
        ];
        for (text, version) in cases {
            assert_eq!(version_in(text), version);
        }
    }

    #[test]
    fn programs_are_found_or_not() {
        assert!(on_path("sh").is_some());
        assert_eq!(on_path("no-such-load-generator"), None);
    }
}
