//! What a run left behind becomes evidence of it: after the run, and once more when its stack is gone.

use super::folder::{FolderError, RunFolder};
use super::judge::{JudgeError, judge_folder};
use crate::environment::{CleanRoom, Leftover, Stack};

/// Scans the stack of a run that is over, and saves what it finds.
///
/// # Errors
/// The file cannot be written.
pub async fn after_run(stack: &Stack, folder: &RunFolder) -> Result<CleanRoom, FolderError> {
    let room = CleanRoom {
        after_run: stack.leftovers().await,
        after_stop: None,
    };
    folder.save(RunFolder::CLEAN_ROOM, &room)?;
    Ok(room)
}

/// Adds what the machine's scan found to the last run of the stack, and judges that run again when it found
/// something.
///
/// # Errors
/// The file cannot be written, or the run not be judged.
pub fn after_stop(folder: RunFolder, found: Vec<Leftover>) -> Result<(), JudgeError> {
    let mut room: CleanRoom = folder.load(RunFolder::CLEAN_ROOM).unwrap_or_default();
    let is_clean = found.is_empty();
    room.after_stop = Some(found);
    folder.save(RunFolder::CLEAN_ROOM, &room)?;
    // A run that broke off has no verdict to mend.
    if !is_clean && folder.file(RunFolder::VERDICT).exists() {
        judge_folder(folder)?;
    }
    Ok(())
}
