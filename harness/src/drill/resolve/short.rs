//! How `--short` shrinks a drill.

use crate::drill::file::ShortSection;
use crate::drill::range::Share;

/// Half a quarter: what `--short` does to a drill that does not say.
impl Default for ShortSection {
    fn default() -> Self {
        let share = |value| Share::new(value).expect("a share");
        Self {
            rate_share: share(0.25),
            duration_share: share(0.5),
        }
    }
}
