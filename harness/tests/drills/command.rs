//! The command itself, for tests that run it on real servers.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

/// One stack at a time: two would starve each other on a small machine.
static STACK: Mutex<()> = Mutex::new(());

pub fn one_at_a_time() -> MutexGuard<'static, ()> {
    STACK.lock().unwrap_or_else(PoisonError::into_inner)
}

pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Where the files of the command's servers are: on a slow disk a drill would be one of the disk.
pub static SCRATCH: LazyLock<PathBuf> = LazyLock::new(|| {
    let script = repository().join("compose/scratch.sh");
    let said = Command::new(script).output().unwrap().stdout;
    String::from_utf8(said).unwrap().trim().into()
});

/// The command in the repository.
pub fn flashdrill_here(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_flashdrill"));
    command.current_dir(repository()).args(args);
    command.env("TMPDIR", &*SCRATCH);
    command
}

pub fn flashdrill(results: &Path, args: &[&str]) -> Command {
    let mut command = flashdrill_here(args);
    if matches!(args[0], "drill" | "prove" | "explore") {
        command.arg("--results").arg(results);
    }
    command
}

pub fn run(results: &Path, args: &[&str]) -> Output {
    flashdrill(results, args).output().unwrap()
}

pub fn text(output: &Output) -> String {
    let out = String::from_utf8_lossy(&output.stdout);
    let err = String::from_utf8_lossy(&output.stderr);
    format!("exit {:?}\n{out}\n{err}", output.status.code())
}

pub fn verdict_of(run: &Path) -> Value {
    let path = run.join("verdict.json");
    serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap()
}

/// Runs of `results`, in the order they were made.
pub fn runs(results: &Path) -> Vec<PathBuf> {
    let mut runs: Vec<_> = std::fs::read_dir(results)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("plan.json").exists() && !path.is_symlink())
        .collect();
    runs.sort();
    runs
}

/// A copy of the drills whose target file is changed.
pub fn drills_with_target(change: impl Fn(String) -> String) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("targets")).unwrap();
    let drills = repository().join("drills");
    let target = std::fs::read_to_string(drills.join("targets/flashsale.toml")).unwrap();
    std::fs::write(folder.path().join("targets/flashsale.toml"), change(target)).unwrap();
    std::fs::copy(
        drills.join("baseline/oversell.toml"),
        folder.path().join("oversell.toml"),
    )
    .unwrap();
    folder
}

/// A quiet sale: what is seen here does not depend on the rate.
pub const QUIET: &str = r#"
title = "A quiet sale"
controls = ["HN-1"]
[sale]
skus = 1
units_per_sku = 100
[load]
connections = 8
[[load.phases]]
name = "steady"
shape = "constant"
rate_per_s = 50
duration_ms = 3000
[population]
users = 1000
[expect]
checks = ["S1"]
"#;
