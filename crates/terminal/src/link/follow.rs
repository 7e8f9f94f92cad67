//! A session in one view, followed for as long as somebody looks: what breaks is resumed.
//!
//! Invariant: pages and patches come in order, each once. After a page everything before it is void.

use std::time::Duration;

use engine::view::{Picture, Thinking, ViewName};
use serde::Deserialize;
use tokio::sync::mpsc;

use super::events::{Event, Events, Heard};
use super::{Link, Trouble, answered, away};

/// A line on which nothing is heard for so long is dead; the gateway says something every 15 seconds.
const SILENCE_MAX: Duration = Duration::from_secs(35);

const RETRY_FIRST: Duration = Duration::from_millis(250);
const RETRY_MAX: Duration = Duration::from_secs(10);

/// Frames that may be on their way to whoever draws.
const FRAMES_AHEAD: usize = 256;

/// What comes of following.
#[derive(Clone, Debug)]
pub enum Told {
    /// The page as it stands.
    Page(Box<Picture>),
    /// A change of it, as the gateway spelled it.
    Patch(String),
    /// The line broke; it is tried again.
    Away(String),
    Back,
    /// Nothing more comes.
    Over(Trouble),
}

#[derive(Clone, Debug)]
pub struct Wanted {
    pub session: String,
    pub view: ViewName,
    pub thinking: Thinking,
}

/// Follows until the receiver is dropped.
pub fn follow(link: Link, wanted: Wanted) -> mpsc::Receiver<Told> {
    let (tell, told) = mpsc::channel(FRAMES_AHEAD);
    tokio::spawn(async move {
        let mut open = Line { link, wanted, cursor: None, tell };
        let mut pause = RETRY_FIRST;
        loop {
            let heard = open.listen().await;
            match heard {
                Ok(Listened::Something) => pause = RETRY_FIRST,
                Ok(Listened::Nothing) => {}
                Err(Broken::Unheard) => return,
                Err(Broken::For(trouble)) if trouble.is_passing() => {
                    if open.tell.send(Told::Away(trouble.to_string())).await.is_err() {
                        return;
                    }
                }
                Err(Broken::For(trouble)) => {
                    let _unheard = open.tell.send(Told::Over(trouble)).await;
                    return;
                }
            }
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = open.tell.closed() => return,
            }
            pause = (pause * 2).min(RETRY_MAX);
        }
    });
    told
}

struct Line {
    link: Link,
    wanted: Wanted,
    /// The id of the last frame.
    cursor: Option<String>,
    tell: mpsc::Sender<Told>,
}

enum Listened {
    Something,
    Nothing,
}

enum Broken {
    /// Nobody listens any more.
    Unheard,
    For(Trouble),
}

#[derive(Deserialize)]
struct Snapshot {
    picture: Picture,
}

#[derive(Deserialize)]
struct Closed {
    reason: String,
}

impl Line {
    /// Opens the line and hears it to its end.
    async fn listen(&mut self) -> Result<Listened, Broken> {
        let Wanted { session, view, thinking } = &self.wanted;
        let path = format!("/v1/sessions/{session}/stream");
        let mut query = vec![("view", view.as_str()), ("format", "patch")];
        query.extend(thinking_word(*thinking).map(|word| ("thinking", word)));
        let mut request = self.link.stream(&path).query(&query);
        if let Some(cursor) = &self.cursor {
            request = request.header("last-event-id", cursor);
        }
        let mut answer = answered(request).await.map_err(Broken::For)?;
        self.tell(Told::Back).await?;
        let (mut events, mut something) = (Events::default(), Listened::Nothing);
        loop {
            let bytes = match tokio::time::timeout(SILENCE_MAX, answer.chunk()).await {
                Err(_) => return Err(Broken::For(Trouble::Away("it went silent".to_owned()))),
                Ok(Err(error)) => return Err(Broken::For(away(&error))),
                Ok(Ok(None)) => return Ok(something),
                Ok(Ok(Some(bytes))) => bytes,
            };
            let mut came = Vec::new();
            let pushed = events.push(&bytes, |heard| {
                if let Heard::Event(event) = heard {
                    came.push(event);
                }
            });
            for event in came {
                something = Listened::Something;
                self.hear(event).await?;
            }
            pushed.map_err(|_| Broken::For(Trouble::Away("an event is too long".to_owned())))?;
        }
    }

    async fn hear(&mut self, event: Event) -> Result<(), Broken> {
        let Event { id, name, data } = event;
        match name.as_str() {
            "snapshot" => match serde_json::from_str::<Snapshot>(&data) {
                Ok(Snapshot { picture }) => self.tell(Told::Page(Box::new(picture))).await?,
                Err(error) => {
                    let problem = format!("the gateway's page cannot be read: {error}");
                    return Err(Broken::For(unreadable(problem)));
                }
            },
            "" => self.tell(Told::Patch(data)).await?,
            "closed" => {
                let reason = serde_json::from_str::<Closed>(&data).map(|closed| closed.reason);
                let reason = reason.unwrap_or_default();
                if matches!(reason.as_str(), "revoked" | "deleted" | "damaged") {
                    let problem = format!("the gateway closed this session: {reason}");
                    return Err(Broken::For(unreadable(problem)));
                }
            }
            _ => {}
        }
        if !id.is_empty() {
            self.cursor = Some(id);
        }
        Ok(())
    }

    async fn tell(&self, told: Told) -> Result<(), Broken> {
        self.tell.send(told).await.map_err(|_| Broken::Unheard)
    }
}

fn unreadable(message: String) -> Trouble {
    Trouble::Refused { status: 400, code: "closed".to_owned(), message }
}

fn thinking_word(thinking: Thinking) -> Option<&'static str> {
    match thinking {
        Thinking::AsUsual => None,
        Thinking::Hide => Some("hide"),
        Thinking::Latest => Some("latest"),
        Thinking::Show => Some("show"),
    }
}
