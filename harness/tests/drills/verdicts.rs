//! A run that was no valid test is never green, and a proof that does not hold is red; on real servers.
//!
//! Needs the service's binaries beside `flashdrill`: `make test` builds them first.

use std::path::Path;

use crate::command::*;

/// Runs a drill of the quiet sale after a change of it and of the target; returns exit code and first reason.
fn quiet(
    drill: impl Fn(String) -> String,
    target: impl Fn(String) -> String,
) -> (Option<i32>, String) {
    let _stack = one_at_a_time();
    let folder = drills_with_target(target);
    let file = folder.path().join("quiet.toml");
    std::fs::write(&file, drill(QUIET.to_owned())).unwrap();
    let output = run(folder.path(), &["drill", "run", file.to_str().unwrap()]);
    let made = runs(folder.path())
        .pop()
        .unwrap_or_else(|| panic!("{}", text(&output)));
    let why = verdict_of(&made)["reasons"].to_string();
    (output.status.code(), why)
}

fn same(text: String) -> String {
    text
}

/// The text with one place changed.
fn changed(text: &str, place: &str, with: &str) -> String {
    assert!(text.contains(place), "{place} not in: {text}");
    text.replace(place, with)
}

fn assert_no_test((code, why): (Option<i32>, String), because: &str) {
    assert_eq!(code, Some(2), "{why}");
    // What comes first in a sentence is written large.
    let said = why.to_lowercase();
    assert!(
        said.contains("p1:") && said.contains(&because.to_lowercase()),
        "{why}"
    );
}

#[test]
fn an_empty_sale_is_no_test() {
    // A schedule without a request is refused before anything starts; here all buyers come long before the opening.
    let silence = "duration_ms = 1000\n[[load.phases]]\nname = \"silence\"\nshape = \"constant\"\n\
                   rate_per_s = 0\nduration_ms = 3000";
    let early = |drill: String| {
        let late = changed(&drill, "skus = 1", "skus = 1\nopens_at_ms = 3900");
        let alone = changed(&late, "checks =", "sell_out = false\nchecks =");
        changed(&alone, "duration_ms = 3000", silence)
    };
    assert_no_test(quiet(early, same), "no purchase was accepted");
}

#[test]
fn a_run_whose_load_never_reached_the_rate_is_no_test() {
    let crowd = |drill: String| {
        let many = changed(&drill, "rate_per_s = 50", "rate_per_s = 20000");
        changed(&many, "connections = 8", "connections = 1")
    };
    assert_no_test(quiet(crowd, same), "no connection had room");
}

#[test]
fn a_run_whose_fault_never_bit_is_no_test() {
    // The service does not use its replica.
    let idle = "[[faults]]\nkind = \"link_stall\"\nat_ms = 500\nfor_ms = 500\nlinks = [\"service-0-replica\"]\n[expect]";
    let drill = |drill: String| changed(&drill, "[expect]", idle);
    assert_no_test(
        quiet(drill, same),
        "link_stall: no evidence that the fault bit",
    );
}

#[test]
fn a_run_whose_final_read_failed_is_no_test() {
    // The first order that there is cannot be read.
    let target = |target: String| changed(&target, "created = \"created\"\n", "");
    assert_no_test(quiet(same, target), "the final reading is incomplete");
}

/// MySQL's own sums are right: only what was put on sale tells.
#[test]
fn a_hand_in_the_stock_is_seen() {
    let tamper = "[[faults]]\nkind = \"mysql_stock_tamper\"\nat_ms = 500\nsku = 1\nunits = 5\n\
                  [expect]\nsell_out = false";
    let (code, why) = quiet(|drill| changed(&drill, "[expect]", tamper), same);
    assert_eq!(code, Some(1), "{why}");
    assert!(why.contains("S1: 1 × ledger break"), "{why}");
}

#[test]
fn a_mutant_whose_drill_was_weakened_is_told_to_survive() {
    let _stack = one_at_a_time();
    let folder = drills_with_target(same);
    let weak = changed(QUIET, "checks = [\"S1\"]", "checks = [\"S5\"]");
    let mutant = "\n[[mutants]]\nname = \"one-unit-too-many\"\ncheck = \"S5\"\n";
    let file = folder.path().join("weak.toml");
    std::fs::write(&file, weak + mutant).unwrap();
    let output = run(folder.path(), &["prove", file.to_str().unwrap()]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("| one-unit-too-many | S5 | SURVIVED |"),
        "{said}"
    );
}

/// What exploring a broken service finds is saved as a drill file.
#[test]
fn exploring_finds_a_broken_service_replays_it_and_makes_it_smaller() {
    let _stack = one_at_a_time();
    let results = tempfile::tempdir().unwrap();
    let words =
        "explore --seed 2 --minutes 1 --mutant forgets-limit-on-retry --replays 1 --shrink-runs 2";
    let output = run(results.path(), &words.split(' ').collect::<Vec<_>>());
    let said = text(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let found = std::fs::read(results.path().join("explore-2/explore.json")).unwrap();
    let found: serde_json::Value = serde_json::from_slice(&found).unwrap();
    let failure = &found["failures"][0];
    // Granted without a look at the limit, and refused by MySQL: promises that no fault explains.
    assert!(failure["checks"].to_string().contains("L6"), "{found:#}");
    assert_eq!(failure["replays"], 1, "{found:#}");
    let file = failure["file"].as_str().unwrap();
    assert!(Path::new(file).exists() && said.contains(file), "{said}");
}
