//! Non-interactive mode: sends one message and prints its run as text or frames.

use std::borrow::Cow;
use std::io::{self, Stdout, Write, stdout};

use millpond_client::backoff::retry_up_to_limit_with_backoff;
use millpond_client::messages::Delivery;
use millpond_client::runs::RunState;
use millpond_client::session_stream::{
    StreamEnd, StreamRequest, StreamUpdate, spawn_session_stream,
};
use millpond_client::sessions::Session;
use millpond_client::{GatewayClient, RequestError};
use millpond_engine::event::Outcome;
use millpond_engine::view::patch::EndedRun;
use millpond_engine::view::{Page, Patch, Thinking};
use millpond_engine::wire::patch::PatchEncoder;
use serde_json::{Value, json};

use super::Setup;
use super::background_calls::{new_message_with_key, send_message_with_retry, title_from_message};
use crate::hyperlinks::HyperlinkMode;
use crate::page::{PageChange, PageRenderer, RenderOptions};
use crate::plain_writer::PlainWriter;
use crate::row::Row;
use crate::size::Size;

/// Output format of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrintFormat {
    /// Settled rows as plain text.
    Text,
    /// The page and each patch as one line of JSON.
    Frames,
}

/// How the run ended.
#[derive(Debug)]
pub struct RunEnd {
    /// Outcome of the run.
    pub outcome: Outcome,
    /// Explanation for the user unless the run simply completed.
    pub message: Option<String>,
}

impl From<&EndedRun<'_>> for RunEnd {
    fn from(ended: &EndedRun<'_>) -> RunEnd {
        let words = ended.label().map(Cow::into_owned);
        RunEnd { outcome: ended.outcome, message: words }
    }
}

/// Error of a run that could not be followed to its end.
#[derive(Debug, thiserror::Error)]
pub enum OneShotError {
    #[error(transparent)]
    Request(#[from] RequestError),
    #[error(transparent)]
    Stream(#[from] StreamEnd),
    #[error(transparent)]
    Output(#[from] io::Error),
    #[error("the gateway closed the connection")]
    StreamEnded,
}

/// Sends the message and prints its run until the run ends. `notify` receives notices for the user,
/// such as an open ask.
pub async fn send_and_print_run(
    setup: Setup,
    text: String,
    format: PrintFormat,
    notify: impl FnMut(&str),
) -> Result<RunEnd, OneShotError> {
    let Setup { client, session, view, .. } = setup;
    let session = match session {
        Some(session) => session,
        None => client.create_session(&title_from_message(&text)).await?,
    };
    let request =
        StreamRequest { session: session.id.clone(), view, thinking: Thinking::ViewDefault };
    let mut updates = spawn_session_stream(client.clone(), request);
    let options = RenderOptions { size: Size::UNBOUNDED, hyperlinks: HyperlinkMode::SpelledOut };
    let mut renderer = PageRenderer::new(view, options);
    renderer.hide_prompts_and_endings();
    let mut printer = RunPrinter {
        client,
        session,
        message: MessageState::Unsent(text),
        renderer,
        output: RunOutput::new(format),
        notify,
    };
    while let Some(update) = updates.recv().await {
        let missed_end = printer.apply_update_and_send_if_unsent(update).await?;
        printer.output.write_rows_if_text(&printer.renderer.take_settled())?;
        if let Some(end) = printer.find_run_end_on_page().or(missed_end) {
            printer.output.end_line_if_text()?;
            return Ok(end);
        }
    }
    Err(OneShotError::StreamEnded)
}

/// Follows one session and prints the run of one message.
struct RunPrinter<N> {
    client: GatewayClient,
    session: Session,
    message: MessageState,
    renderer: PageRenderer,
    output: RunOutput,
    notify: N,
}

/// State of the message whose run is printed.
enum MessageState {
    /// Sent after the first page, so that no part of its run is missed.
    Unsent(String),
    Sent {
        run: String,
    },
}

impl<N: FnMut(&str)> RunPrinter<N> {
    /// Applies an update. Returns the run's end if it came while the connection was down.
    async fn apply_update_and_send_if_unsent(
        &mut self,
        update: StreamUpdate,
    ) -> Result<Option<RunEnd>, OneShotError> {
        match update {
            StreamUpdate::Page(page) => return self.apply_page_and_send_if_unsent(*page).await,
            StreamUpdate::Patch(patch) => {
                self.output.write_patch_if_frames(&patch)?;
                if self.renderer.apply_patch(&patch) == PageChange::AskOpened {
                    (self.notify)(&ask_notice(&self.client, &self.session));
                }
            }
            StreamUpdate::Disconnected(loss) => (self.notify)(&format!("{loss}; retrying")),
            StreamUpdate::Connected => {}
            StreamUpdate::Closed(end) => return Err(end.into()),
        }
        Ok(None)
    }

    async fn apply_page_and_send_if_unsent(
        &mut self,
        page: Page,
    ) -> Result<Option<RunEnd>, OneShotError> {
        self.output.write_page_if_frames(&page)?;
        match &self.message {
            MessageState::Unsent(text) => {
                let message = new_message_with_key(text.clone(), Delivery::Queue);
                // Earlier items are not printed.
                self.renderer.replace_page_and_drop_settled(page);
                let run = send_message_with_retry(&self.client, &self.session.id, &message).await?;
                self.message = MessageState::Sent { run };
                Ok(None)
            }
            MessageState::Sent { run } => {
                self.renderer.replace_page_and_settle(page);
                Ok(fetch_run_end(&self.client, run).await?)
            }
        }
    }

    /// Returns the run's end if the page has it.
    fn find_run_end_on_page(&self) -> Option<RunEnd> {
        let MessageState::Sent { run } = &self.message else { return None };
        let ended = self.renderer.page().ended.as_ref();
        ended.filter(|ended| ended.run == *run).map(RunEnd::from)
    }
}

/// Asks the gateway how the run ended; `None` if it has not ended.
async fn fetch_run_end(client: &GatewayClient, run: &str) -> Result<Option<RunEnd>, RequestError> {
    let state =
        retry_up_to_limit_with_backoff(RequestError::is_transient, || client.fetch_run_state(run));
    Ok(match state.await? {
        RunState::NotStarted | RunState::Active => None,
        RunState::Ended(outcome) => {
            let words = format!("The run ended: {}", outcome.as_str());
            Some(RunEnd { outcome, message: (outcome != Outcome::Completed).then_some(words) })
        }
    })
}

fn ask_notice(client: &GatewayClient, session: &Session) -> String {
    let url = client.web_url(Some(session));
    format!("the agent is waiting for an answer: run `millpond -r {}` or open {url}", session.id)
}

/// Standard output of a run.
enum RunOutput {
    Text(PlainWriter<Stdout>),
    Frames(PatchEncoder),
}

impl RunOutput {
    fn new(format: PrintFormat) -> RunOutput {
        match format {
            PrintFormat::Text => RunOutput::Text(PlainWriter::new(stdout())),
            PrintFormat::Frames => RunOutput::Frames(PatchEncoder::default()),
        }
    }

    fn write_rows_if_text(&mut self, rows: &[Row]) -> io::Result<()> {
        match self {
            RunOutput::Text(writer) => writer.write_rows_leaving_line_open(rows),
            RunOutput::Frames(_) => Ok(()),
        }
    }

    fn write_page_if_frames(&mut self, page: &Page) -> io::Result<()> {
        match self {
            RunOutput::Text(_) => Ok(()),
            RunOutput::Frames(encoder) => {
                *encoder = PatchEncoder::after_page(page);
                print_json_frame("snapshot", &json!({ "picture": page }))
            }
        }
    }

    fn write_patch_if_frames(&mut self, patch: &Patch<'_>) -> io::Result<()> {
        match self {
            RunOutput::Text(_) => Ok(()),
            RunOutput::Frames(encoder) => {
                let mut data = String::new();
                encoder.encode_next_into_cleared(patch, &mut data);
                print_json_frame("patch", &serde_json::from_str(&data)?)
            }
        }
    }

    /// Ends the last line.
    fn end_line_if_text(&mut self) -> io::Result<()> {
        match self {
            RunOutput::Text(writer) => writer.end_line_if_open(),
            RunOutput::Frames(_) => Ok(()),
        }
    }
}

fn print_json_frame(event: &str, data: &Value) -> io::Result<()> {
    let mut out = stdout().lock();
    writeln!(out, "{}", json!({ "event": event, "data": data }))?;
    out.flush()
}
