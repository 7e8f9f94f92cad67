//! Writes what a running tool puts out, and how it ended, to the log.

use millpond_engine::event::{Image, StepId};

use crate::tools::{CallResult, ToolUpdate, UpdateContent};

use super::call_batch::CallBatch;
use super::{AgentLoop, LoopExit};

impl AgentLoop {
    /// Writes a tool's output, progress or image.
    pub(super) async fn write_tool_update(
        &mut self,
        update: ToolUpdate,
        batch: &mut CallBatch,
    ) -> Result<(), LoopExit> {
        let ToolUpdate { step, content } = update;
        match content {
            UpdateContent::Output(text) => {
                let shown_text = batch.outputs.entry(step).or_default().push(&text);
                if !shown_text.is_empty() {
                    self.writer
                        .write_or_fail_run(|out| {
                            out.append_output_if_open(step, &shown_text);
                        })
                        .await?;
                }
            }
            UpdateContent::Progress(text) => {
                self.writer
                    .write_or_fail_run(|out| out.append_tool_progress_if_open(step, &text))
                    .await?;
            }
            UpdateContent::Image { media_type, base64 } => {
                let image = Image::Inline { media_type: media_type.into(), base64: base64.into() };
                self.writer.write_or_fail_run(|out| out.append_output_image(step, image)).await?;
            }
        }
        Ok(())
    }

    /// Stores an output that was too long for the log as a blob, and writes a note of it.
    pub(super) async fn store_output_and_note_if_cut(
        &mut self,
        step: StepId,
        batch: &mut CallBatch,
    ) -> Result<(), LoopExit> {
        let Some(output) = batch.outputs.remove(&step) else { return Ok(()) };
        let Some(full_output) = output.into_full_if_cut() else { return Ok(()) };
        let note = match self.writer.store_blob("text/plain", full_output.bytes).await {
            Ok(digest) => {
                format!("\n… {} more bytes; full output: {digest}", full_output.hidden_bytes)
            }
            Err(_) => format!("\n… {} more bytes", full_output.hidden_bytes),
        };
        self.writer.write_or_fail_run(|out| out.append_output_if_open(step, &note)).await?;
        Ok(())
    }

    /// Writes the end of a call.
    pub(super) async fn write_tool_end(
        &mut self,
        step: StepId,
        result: CallResult,
    ) -> Result<(), LoopExit> {
        let CallResult { outcome, detail } = result;
        self.writer
            .write_or_fail_run(|out| out.end_tool_if_open(step, outcome, detail.as_deref()))
            .await?;
        Ok(())
    }
}
