//! The normal build holds none of the deliberate defects, and none of the switches for them.
//!
//! `flashsale-mutants` must be beside it: `make test` builds it first.
#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

use std::path::{Path, PathBuf};
use std::process::Command;

use memchr::memmem;

const NORMAL: &str = env!("CARGO_BIN_EXE_flashsale");
/// What arms a failpoint, and what says that a mutant runs.
const SWITCHES: [&str; 2] = ["/failpoints/{name}", "deliberate defect"];

fn mutants() -> PathBuf {
    let path = Path::new(NORMAL).with_file_name("flashsale-mutants");
    assert!(path.exists(), "`make build-mutants` makes {path:?}");
    path
}

/// Names and sentences, as the help of `--mutant` lists them: `- name: sentence`.
fn listed() -> Vec<String> {
    let help = Command::new(mutants()).arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let values = help.split("--mutant").nth(1).unwrap();
    let lines = values.lines().map(str::trim);
    let lines = lines.filter_map(|line| line.strip_prefix("- ")?.split_once(':'));
    let words = lines.flat_map(|(name, sentence)| {
        // The help wraps long sentences, so their beginning must do; behind short ones it says what they stand for.
        let sentence = sentence.split(" [").next().unwrap_or_default();
        let beginning: String = sentence.trim().chars().take(30).collect();
        [name.to_owned(), beginning]
    });
    words.collect()
}

#[test]
fn holds_no_mutant_and_no_switch_for_one() {
    let words = listed();
    assert!(words.len() >= 30, "fifteen mutants at least: {words:?}");
    let [normal, broken] =
        [PathBuf::from(NORMAL), mutants()].map(|path| std::fs::read(path).unwrap());
    let switches = SWITCHES.map(str::to_owned);
    for word in words.iter().chain(&switches) {
        let is_in = |bytes: &[u8]| memmem::find(bytes, word.as_bytes()).is_some();
        assert!(is_in(&broken), "the broken build should hold `{word}`");
        assert!(!is_in(&normal), "the normal build holds `{word}`");
    }
}

#[test]
fn refuses_to_be_broken() {
    let output = Command::new(NORMAL)
        .args(["--mutant", "read-then-decrement"])
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(error.contains("--mutant"), "{error}");
}
