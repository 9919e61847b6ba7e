//! Whoever reads the command's output may stop: it goes on, and its exit code says what became of it.

use std::path::Path;
use std::process::Command;

#[test]
fn a_reader_who_has_left_changes_nothing() {
    let missing = ["check", "no-such-run"];
    for (args, code) in [
        (&["fault", "list"][..], 0),
        (&["drill", "list"], 0),
        (&["ps"], 0),
        (&missing, 64),
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let status = Command::new(env!("CARGO_BIN_EXE_flashdrill"))
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
            .args(args)
            .stdout(writer.try_clone().unwrap())
            .stderr(writer)
            .status()
            .unwrap();
        assert_eq!(status.code(), Some(code), "{args:?}");
    }
}
