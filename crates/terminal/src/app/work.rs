//! What is asked of the gateway while the person goes on.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::sync::{Semaphore, mpsc};

use super::easel::Easel;
use crate::chat::Answer;
use crate::link::{Agent, Link, Message, Session, Trouble, Waiting};
use crate::page::Fetched;

/// How often a message is tried before the person gets it back.
const TRIES_MAX: u32 = 8;

/// From asking for a picture until it is settled without it.
const PICTURE_WITHIN: Duration = Duration::from_secs(15);

/// Pictures that are fetched and read at a time.
const PICTURES_AT_ONCE: usize = 2;

/// Characters of a first message that name its conversation.
const TITLE_CHARS_MAX: usize = 60;

/// Conversations of a list.
const LISTED_MAX: usize = 20;

/// Conversations to choose from.
const CHOSEN_FROM_MAX: usize = 200;

/// What came of it.
#[derive(Debug)]
pub(super) enum Done {
    /// A conversation that its first message has made, for whoever is still in it.
    Began {
        conversation: Conversation,
        session: Session,
    },
    Queue(Vec<Waiting>),
    Sessions(Vec<Session>),
    /// To choose from.
    Places(Vec<Session>),
    Model(Agent),
    Tools(Agent),
    Picture {
        name: String,
        fetched: Fetched,
    },
    Unsent {
        text: String,
        trouble: Trouble,
    },
    Trouble(Trouble),
    Nothing,
}

/// Which conversation a message was written in, also before it has a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Conversation(u64);

#[derive(Debug)]
pub(super) struct Work {
    conversation: Conversation,
    link: Link,
    tell: mpsc::UnboundedSender<Done>,
    told: mpsc::UnboundedReceiver<Done>,
    /// Messages leave in the order in which they were written.
    outbox: mpsc::UnboundedSender<Letter>,
    /// Pictures take memory while they are read: a few at a time.
    picture_turns: Arc<Semaphore>,
}

#[derive(Debug)]
struct Letter {
    conversation: Conversation,
    session: Option<String>,
    text: String,
    join: bool,
}

impl Work {
    pub(super) fn new(link: Link) -> Work {
        let (tell, told) = mpsc::unbounded_channel();
        let (outbox, letters) = mpsc::unbounded_channel();
        tokio::spawn(send_all(link.clone(), letters, tell.clone()));
        let picture_turns = Arc::new(Semaphore::new(PICTURES_AT_ONCE));
        Work { conversation: Conversation::default(), link, tell, told, outbox, picture_turns }
    }

    pub(super) fn conversation(&self) -> Conversation {
        self.conversation
    }

    /// What is sent from now on belongs to another conversation.
    pub(super) fn turn_away(&mut self) {
        self.conversation.0 += 1;
    }

    pub(super) async fn next(&mut self) -> Option<Done> {
        self.told.recv().await
    }

    pub(super) fn send(&self, session: Option<&Session>, text: String, join: bool) {
        let session = session.map(|session| session.id.clone());
        let conversation = self.conversation;
        let _stopped = self.outbox.send(Letter { conversation, session, text, join });
    }

    pub(super) fn answer(&self, answer: Answer) {
        self.spawn(move |link| async move {
            let Answer { run, ask, answer } = answer;
            link.answer(&run, &ask, &answer).await.map(|()| Done::Nothing)
        });
    }

    pub(super) fn cancel(&self, session: &str) {
        let session = session.to_owned();
        self.spawn(move |link| async move {
            if let Some(run) = link.session(&session).await?.run {
                match link.cancel(&run).await {
                    Err(trouble) if !trouble.is_code("run_ended") => return Err(trouble),
                    _ => {}
                }
            }
            Ok(Done::Nothing)
        });
    }

    pub(super) fn retry(&self, run: String) {
        self.spawn(move |link| async move { link.retry(&run).await.map(|()| Done::Nothing) });
    }

    pub(super) fn queue(&self, session: &str) {
        let session = session.to_owned();
        self.spawn(move |link| async move { link.queue(&session).await.map(Done::Queue) });
    }

    pub(super) fn unqueue(&self, session: &str, id: String) {
        let session = session.to_owned();
        self.spawn(move |link| async move { link.unqueue(&session, &[id]).await.map(Done::Queue) });
    }

    pub(super) fn sessions(&self, words: String) {
        self.spawn(move |link| async move {
            link.sessions(&words, LISTED_MAX).await.map(Done::Sessions)
        });
    }

    /// Conversations to choose from.
    pub(super) fn places(&self) {
        self.spawn(move |link| async move {
            link.sessions("", CHOSEN_FROM_MAX).await.map(Done::Places)
        });
    }

    /// Asks who answers, for whoever makes something of it.
    pub(super) fn agent(&self, then: fn(Agent) -> Done) {
        self.spawn(move |link| async move { link.agent().await.map(then) });
    }

    /// Fetches a picture, puts it where it can be opened, and has it drawn where that can be done.
    pub(super) fn picture(&self, session: &str, name: String, easel: Easel) {
        let (session, turns) = (session.to_owned(), Arc::clone(&self.picture_turns));
        self.spawn(move |link| async move {
            let digest = name.rsplit(':').next().unwrap_or_default();
            let fetching = async {
                let _turn = turns.acquire().await;
                match persistent(|| link.blob(&session, digest)).await {
                    Ok(bytes) => easel.show(digest.to_owned(), bytes).await,
                    Err(trouble) => Fetched::Not(trouble.to_string()),
                }
            };
            let fetched = tokio::time::timeout(PICTURE_WITHIN, fetching).await;
            let fetched =
                fetched.unwrap_or_else(|_| Fetched::Not("it did not come in time".into()));
            Ok(Done::Picture { name, fetched })
        });
    }

    fn spawn<F>(&self, call: impl FnOnce(Link) -> F)
    where
        F: Future<Output = Result<Done, Trouble>> + Send + 'static,
    {
        let (tell, calling) = (self.tell.clone(), call(self.link.clone()));
        tokio::spawn(async move {
            let _gone = tell.send(calling.await.unwrap_or_else(Done::Trouble));
        });
    }
}

/// Sends one message after the other. The first makes a conversation where there is none.
async fn send_all(
    link: Link,
    mut letters: mpsc::UnboundedReceiver<Letter>,
    tell: mpsc::UnboundedSender<Done>,
) {
    // Others may follow the first before anybody has heard the name.
    let mut made: Option<(Conversation, String)> = None;
    while let Some(Letter { conversation, session, text, join }) = letters.recv().await {
        let known = made.as_ref().filter(|(of, _)| *of == conversation).map(|(_, id)| id.clone());
        let session = match session.or(known) {
            Some(session) => session,
            None => match link.create(&title(&text)).await {
                Ok(session) => {
                    let id = session.id.clone();
                    made = Some((conversation, id.clone()));
                    let _gone = tell.send(Done::Began { conversation, session });
                    id
                }
                Err(trouble) => {
                    let _gone = tell.send(Done::Unsent { text, trouble });
                    continue;
                }
            },
        };
        let message = message(text, join);
        let sent = send(&link, &session, &message).await;
        let _gone = tell.send(match sent {
            Ok(_) => link.queue(&session).await.map_or_else(Done::Trouble, Done::Queue),
            Err(trouble) => Done::Unsent { text: message.text, trouble },
        });
    }
}

pub(super) fn message(text: String, join: bool) -> Message {
    Message { text, join, key: key() }
}

/// Gives the run that will answer. The same key each time, so that it is one message however often it goes out.
pub(super) async fn send(link: &Link, session: &str, message: &Message) -> Result<String, Trouble> {
    persistent(|| link.send(session, message)).await
}

/// Calls again while there is hope.
pub(super) async fn persistent<T, F>(mut call: impl FnMut() -> F) -> Result<T, Trouble>
where
    F: Future<Output = Result<T, Trouble>>,
{
    let mut pause = Duration::from_millis(200);
    let mut tries = 1;
    loop {
        match call().await {
            Err(trouble) if trouble.is_passing() && tries < TRIES_MAX => {
                tokio::time::sleep(pause).await;
                pause *= 2;
                tries += 1;
            }
            done => return done,
        }
    }
}

pub(super) fn title(text: &str) -> String {
    let line = crate::text::one_line(text.trim().lines().next().unwrap_or_default());
    let short: String = line.chars().take(TITLE_CHARS_MAX).collect();
    if short.len() < line.len() { format!("{}…", short.trim_end()) } else { short }
}

/// Unlike every other of this machine.
fn key() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("terminal-{}-{}-{count}", std::process::id(), since.as_nanos())
}
