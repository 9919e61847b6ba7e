//! What a load costs, by the word of whoever sends it.

use std::io::{self, BufRead, BufReader};
use std::process::Child;

use super::spent::{Meter, Spent};

/// A drill and the Java client say so on standard error.
const BEGUN: &str = "load starts";
const ENDED: &str = "load ended";

/// CPU of the meter's processes from the load's begin to its end; passes on what the child says, to its last word.
///
/// Afterwards its standard input is closed, where it has one of ours: it may wait for that so as not to end before its
/// CPU was read.
///
/// # Errors
/// The kernel does not tell.
pub fn metered(child: &mut Child, mut meter: Meter) -> io::Result<Spent> {
    let lines = child.stderr.take().map(BufReader::new);
    let mut spent = Spent::default();
    for line in lines.into_iter().flat_map(BufRead::lines) {
        let line = line?;
        eprintln!("{line}");
        if line.ends_with(BEGUN) {
            meter.begin()?;
        } else if line.contains(ENDED) {
            spent = meter.end()?;
            drop(child.stdin.take());
        }
    }
    Ok(spent)
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn between_its_words_and_it_ends_when_its_input_does() {
        let busy = "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done";
        let script = format!("{busy}; echo load starts >&2; {busy}; echo load ended >&2; read x");
        let mut child = Command::new("sh")
            .args(["-c", &script])
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let meter = Meter::default().and(child.id(), Some("load"));
        let spent = metered(&mut child, meter).unwrap();
        assert!(!child.wait().unwrap().success(), "`read` found no line");
        assert!(spent.0["load"] > 0.0, "{spent:?}");
    }
}
