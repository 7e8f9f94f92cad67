//! Saves the working folder before a tool may change it.

use millpond_engine::event::{Event, NoticeLevel};

use crate::checkpoint::CheckpointError;
use crate::tools::ToolAction;

use super::{AgentLoop, LoopExit};

/// Last checkpoint event written, to avoid repeats.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum LastCheckpoint {
    #[default]
    None,
    Saved(String),
    Failed(CheckpointError),
}

impl AgentLoop {
    /// Saves the folder if the action may change files. If saving fails, writes a notice and the
    /// action still runs: approval does not depend on a checkpoint.
    pub(super) async fn save_checkpoint_if_files_may_change(
        &mut self,
        action: &ToolAction,
    ) -> Result<(), LoopExit> {
        let Some(checkpoints) =
            self.config.checkpoints.clone().filter(|_| action.may_change_files())
        else {
            return Ok(());
        };
        let saved_hash = match self.stop_signal.run_or_drop_on_stop(checkpoints.save()).await? {
            Ok(hash) => LastCheckpoint::Saved(hash),
            Err(error) => LastCheckpoint::Failed(error),
        };
        if saved_hash == self.last_checkpoint {
            return Ok(());
        }
        match &saved_hash {
            LastCheckpoint::None => {}
            LastCheckpoint::Saved(hash) => {
                let saved = Event::CheckpointSaved { hash: hash.clone().into() };
                self.writer.write_or_fail_run(|out| out.append_stateless_event(saved)).await?;
            }
            LastCheckpoint::Failed(error) => {
                let notice = format!("no checkpoint saved: {error}");
                self.writer
                    .write_or_fail_run(|out| {
                        out.append_notice(NoticeLevel::Warning, &notice);
                    })
                    .await?;
            }
        }
        self.last_checkpoint = saved_hash;
        Ok(())
    }
}
