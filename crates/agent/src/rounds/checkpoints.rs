//! The working folder is saved before a tool may change it.

use engine::event::{Event, Level};

use crate::checkpoint::NoCheckpoint;
use crate::tools::Deed;

use super::{Halt, Work};

/// What was said of checkpoints last: the same is not said twice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum LastCheckpoint {
    #[default]
    None,
    Saved(String),
    Failed(NoCheckpoint),
}

impl Work {
    /// Saves the folder if the deed may change it. One that cannot be saved is told of, and the deed
    /// is done all the same: whoever allowed it did not ask for a way back.
    pub(super) async fn save_before(&mut self, deed: &Deed) -> Result<(), Halt> {
        let Some(checkpoints) = self.setup.checkpoints.clone().filter(|_| deed.may_change_files())
        else {
            return Ok(());
        };
        let now = match self.stopping.or(checkpoints.save()).await? {
            Ok(hash) => LastCheckpoint::Saved(hash),
            Err(error) => LastCheckpoint::Failed(error),
        };
        if now == self.checkpoint {
            return Ok(());
        }
        match &now {
            LastCheckpoint::None => {}
            LastCheckpoint::Saved(hash) => {
                let saved = Event::CheckpointSaved { hash: hash.clone().into() };
                self.pen.say(|out| out.note(saved)).await?;
            }
            LastCheckpoint::Failed(error) => {
                let words = format!("the folder was not saved before this: {error}");
                self.pen.say(|out| out.notice(Level::Warning, &words)).await?;
            }
        }
        self.checkpoint = now;
        Ok(())
    }
}
