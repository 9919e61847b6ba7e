//! Printing for readers who may leave early, as `head` does: what they do not read is lost, and nothing else.

use std::fmt::Arguments;
use std::io::Write;

/// A line on standard output.
macro_rules! say {
    ($($line:tt)*) => { $crate::cli::print::line(std::io::stdout(), format_args!($($line)*)) };
}

/// A line on standard error.
macro_rules! note {
    ($($line:tt)*) => { $crate::cli::print::line(std::io::stderr(), format_args!($($line)*)) };
}

pub(super) fn line(mut to: impl Write, text: Arguments<'_>) {
    let _ = writeln!(to, "{text}");
}
