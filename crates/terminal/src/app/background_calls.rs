//! Background calls to the gateway; each result arrives as a `GatewayResult`.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use millpond_client::agent::AgentDescription;
use millpond_client::backoff::retry_up_to_limit_with_backoff;
use millpond_client::blobs::DownloadError;
use millpond_client::messages::{Delivery, NewMessage, QueuedMessage};
use millpond_client::runs::{AnswerError, CancelError};
use millpond_client::sessions::Session;
use millpond_client::{GatewayClient, RequestError};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{Semaphore, mpsc};

use super::image_loader::ImageLoader;
use super::os::write_new_file;
use crate::chat::AskAnswer;
use crate::limits::{OUTBOX_MESSAGES_MAX, RESULTS_QUEUED_MAX};
use crate::page::FetchedImage;

/// Time after which an item settles without its image.
const IMAGE_TIMEOUT: Duration = Duration::from_secs(15);

/// Images that are fetched and decoded at a time.
const IMAGE_FETCHES_MAX: usize = 2;

/// Characters of the first message that become the session's title.
const TITLE_CHARS_MAX: usize = 60;

/// Sessions in the output of `/sessions`.
const SESSIONS_LISTED_MAX: usize = 20;

/// Sessions in the `/resume` menu.
const RESUME_CHOICES_MAX: usize = 200;

/// Result of a background call.
#[derive(Debug)]
pub(super) enum GatewayResult {
    /// The first message created a session; ignored if the user has left that conversation.
    SessionCreated {
        conversation: ConversationId,
        session: Session,
    },
    Queue(Vec<QueuedMessage>),
    Sessions(Vec<Session>),
    /// For the `/resume` menu.
    ResumeChoices(Vec<Session>),
    Model(AgentDescription),
    Tools(AgentDescription),
    Image {
        name: String,
        fetched: FetchedImage,
    },
    SendFailed {
        text: String,
        error: RequestError,
    },
    /// Shown to the user.
    Notice(String),
    AnswerFailed(AnswerError),
    Failed(RequestError),
    Nothing,
}

/// Local number of a conversation, valid before the gateway has named its session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ConversationId(u64);

/// Spawns calls to the gateway and collects their results.
#[derive(Debug)]
pub(super) struct BackgroundCalls {
    conversation: ConversationId,
    client: GatewayClient,
    result_sender: mpsc::Sender<GatewayResult>,
    results: mpsc::Receiver<GatewayResult>,
    /// Messages are sent one at a time, in order.
    outbox: mpsc::Sender<OutboxMessage>,
    /// Bounds the memory of images being decoded.
    image_permits: Arc<Semaphore>,
}

/// The outbox is full; the message's text is returned.
#[derive(Debug)]
pub(super) struct OutboxFull(pub(super) String);

/// A message in the outbox.
#[derive(Debug)]
struct OutboxMessage {
    conversation: ConversationId,
    session: Option<String>,
    text: String,
    delivery: Delivery,
}

impl BackgroundCalls {
    pub(super) fn start(client: GatewayClient) -> BackgroundCalls {
        let (result_sender, results) = mpsc::channel(RESULTS_QUEUED_MAX);
        let (outbox, messages) = mpsc::channel(OUTBOX_MESSAGES_MAX);
        tokio::spawn(send_outbox_in_order(client.clone(), messages, result_sender.clone()));
        let image_permits = Arc::new(Semaphore::new(IMAGE_FETCHES_MAX));
        BackgroundCalls {
            conversation: ConversationId::default(),
            client,
            result_sender,
            results,
            outbox,
            image_permits,
        }
    }

    pub(super) fn conversation_id(&self) -> ConversationId {
        self.conversation
    }

    /// Later messages belong to a new conversation.
    pub(super) fn advance_conversation_id(&mut self) {
        self.conversation.0 += 1;
    }

    pub(super) async fn next_result(&mut self) -> Option<GatewayResult> {
        self.results.recv().await
    }

    pub(super) fn try_push_to_outbox(
        &self,
        session: Option<&Session>,
        text: String,
        delivery: Delivery,
    ) -> Result<(), OutboxFull> {
        let session = session.map(|session| session.id.clone());
        let conversation = self.conversation;
        let message = OutboxMessage { conversation, session, text, delivery };
        self.outbox.try_send(message).map_err(|unsent| match unsent {
            TrySendError::Full(message) | TrySendError::Closed(message) => OutboxFull(message.text),
        })
    }

    pub(super) fn answer_ask(&self, answer: AskAnswer) {
        self.spawn_call(move |client| async move {
            let AskAnswer { run, ask, answer } = answer;
            let answered = client.answer_ask(&run, &ask, &answer).await;
            Ok(answered.map_or_else(GatewayResult::AnswerFailed, |()| GatewayResult::Nothing))
        });
    }

    pub(super) fn find_and_cancel_active_run(&self, session: &str) {
        let session = session.to_owned();
        self.spawn_call(move |client| async move {
            if let Some(run) = client.fetch_session(&session).await?.run {
                match client.cancel_run(&run).await {
                    Ok(()) | Err(CancelError::RunEnded) => {}
                    Err(CancelError::Request(error)) => return Err(error),
                }
            }
            Ok(GatewayResult::Nothing)
        });
    }

    pub(super) fn retry_run(&self, run: String) {
        self.spawn_call(move |client| async move {
            client.retry_run(&run).await.map(|()| GatewayResult::Nothing)
        });
    }

    pub(super) fn fetch_queue(&self, session: &str) {
        let session = session.to_owned();
        self.spawn_call(move |client| async move {
            client.fetch_queue(&session).await.map(GatewayResult::Queue)
        });
    }

    pub(super) fn remove_from_queue(&self, session: &str, id: String) {
        let session = session.to_owned();
        self.spawn_call(move |client| async move {
            client.remove_from_queue(&session, &[id]).await.map(GatewayResult::Queue)
        });
    }

    pub(super) fn fetch_sessions(&self, words: String) {
        self.spawn_call(move |client| async move {
            client.list_sessions(&words, SESSIONS_LISTED_MAX).await.map(GatewayResult::Sessions)
        });
    }

    /// Fetches the sessions of the `/resume` menu.
    pub(super) fn fetch_resume_choices(&self) {
        self.spawn_call(move |client| async move {
            client.list_sessions("", RESUME_CHOICES_MAX).await.map(GatewayResult::ResumeChoices)
        });
    }

    /// Fetches the agent's description; `then` makes the result of it.
    pub(super) fn fetch_agent_description(&self, then: fn(AgentDescription) -> GatewayResult) {
        self.spawn_call(
            move |client| async move { client.fetch_agent_description().await.map(then) },
        );
    }

    /// Writes `text` to a new file, on a blocking thread; the result is a notice.
    pub(super) fn write_new_file_in_background(&self, path: PathBuf, text: String) {
        let result_sender = self.result_sender.clone();
        tokio::spawn(async move {
            let place = path.display().to_string();
            let written = tokio::task::spawn_blocking(move || write_new_file(&path, &text)).await;
            let notice = match written.unwrap_or_else(|broken| Err(io::Error::other(broken))) {
                Ok(()) => format!("exported to {place}"),
                Err(error) => format!("cannot write {place}: {error}"),
            };
            let _gone = result_sender.send(GatewayResult::Notice(notice)).await;
        });
    }

    /// Fetches an image, saves it as a file and encodes it for the terminal.
    pub(super) fn fetch_and_save_image(&self, session: &str, name: String, loader: ImageLoader) {
        let (session, turns) = (session.to_owned(), Arc::clone(&self.image_permits));
        self.spawn_call(move |client| async move {
            let digest = name.rsplit(':').next().unwrap_or_default();
            let fetching = async {
                let _turn = turns.acquire().await;
                let download = || client.download_blob(&session, digest);
                match retry_up_to_limit_with_backoff(DownloadError::is_transient, download).await {
                    Ok(bytes) => loader.save_and_encode(digest.to_owned(), bytes).await,
                    Err(error) => FetchedImage::Failed(error.to_string()),
                }
            };
            let fetched = tokio::time::timeout(IMAGE_TIMEOUT, fetching).await;
            let fetched = fetched.unwrap_or_else(|_| FetchedImage::Failed("timed out".into()));
            Ok(GatewayResult::Image { name, fetched })
        });
    }

    fn spawn_call<F>(&self, call: impl FnOnce(GatewayClient) -> F)
    where
        F: Future<Output = Result<GatewayResult, RequestError>> + Send + 'static,
    {
        let (result_sender, calling) = (self.result_sender.clone(), call(self.client.clone()));
        tokio::spawn(async move {
            let result = calling.await.unwrap_or_else(GatewayResult::Failed);
            let _gone = result_sender.send(result).await;
        });
    }
}

/// Sends outbox messages in order. The first of a conversation creates its session.
async fn send_outbox_in_order(
    client: GatewayClient,
    mut messages: mpsc::Receiver<OutboxMessage>,
    results: mpsc::Sender<GatewayResult>,
) {
    // Later messages may be queued before the session's id is known to the chat.
    let mut made: Option<(ConversationId, String)> = None;
    while let Some(OutboxMessage { conversation, session, text, delivery }) = messages.recv().await
    {
        let known = made.as_ref().filter(|(of, _)| *of == conversation).map(|(_, id)| id.clone());
        let session = match session.or(known) {
            Some(session) => session,
            None => match client.create_session(&title_from_message(&text)).await {
                Ok(session) => {
                    let id = session.id.clone();
                    made = Some((conversation, id.clone()));
                    let created = GatewayResult::SessionCreated { conversation, session };
                    let _gone = results.send(created).await;
                    id
                }
                Err(error) => {
                    let _gone = results.send(GatewayResult::SendFailed { text, error }).await;
                    continue;
                }
            },
        };
        let message = new_message_with_key(text, delivery);
        let sent = send_message_with_retry(&client, &session, &message).await;
        let result = match sent {
            Ok(_) => client
                .fetch_queue(&session)
                .await
                .map_or_else(GatewayResult::Failed, GatewayResult::Queue),
            Err(error) => GatewayResult::SendFailed { text: message.text, error },
        };
        let _gone = results.send(result).await;
    }
}

pub(super) fn new_message_with_key(text: String, delivery: Delivery) -> NewMessage {
    NewMessage { text, delivery, idempotency_key: new_idempotency_key() }
}

/// Sends a message, retrying, and returns the id of its run. The idempotency key makes the
/// attempts one message.
pub(super) async fn send_message_with_retry(
    client: &GatewayClient,
    session: &str,
    message: &NewMessage,
) -> Result<String, RequestError> {
    retry_up_to_limit_with_backoff(RequestError::is_transient, || {
        client.send_message(session, message)
    })
    .await
}

pub(super) fn title_from_message(text: &str) -> String {
    let line = crate::text::neutralise_to_one_line(text.trim().lines().next().unwrap_or_default());
    let short: String = line.chars().take(TITLE_CHARS_MAX).collect();
    if short.len() < line.len() { format!("{}…", short.trim_end()) } else { short }
}

/// Returns a key that is unique on this machine.
fn new_idempotency_key() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("terminal-{}-{}-{count}", std::process::id(), since.as_nanos())
}
