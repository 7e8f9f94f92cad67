//! One message and the run that answers it, for programs: text or frames, without a terminal.

use std::borrow::Cow;
use std::io::{self, Write, stdout};

use engine::event::Outcome;
use engine::view::Thinking;
use engine::view::patch::Ended;
use serde_json::{Value, json};

use super::Setup;
use super::work::{self, title};
use crate::link::follow::{Told, Wanted, follow};
use crate::link::{Link, Session, Trouble};
use crate::links::Links;
use crate::page::{Change, Look, Page};
use crate::plain::Plain;
use crate::size::Size;

/// What is printed of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Print {
    /// What the view settles, as plain text.
    Text,
    /// Each change of the page as a line of JSON.
    Frames,
}

/// How it went.
#[derive(Debug)]
pub struct Answered {
    pub outcome: Outcome,
    /// What a person should know if it did not simply end well.
    pub words: Option<String>,
}

impl From<&Ended<'_>> for Answered {
    fn from(ended: &Ended<'_>) -> Answered {
        let words = ended.words().map(Cow::into_owned);
        Answered { outcome: ended.outcome, words }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum Unanswered {
    #[error(transparent)]
    Trouble(#[from] Trouble),
    #[error(transparent)]
    Output(#[from] io::Error),
    #[error("the line to the gateway ended")]
    Over,
}

/// Sends the message and prints until the run that answers it has ended. `say` tells the person
/// what only a person can settle.
pub async fn once(
    setup: Setup,
    text: String,
    print: Print,
    mut say: impl FnMut(&str),
) -> Result<Answered, Unanswered> {
    let Setup { link, session, view, .. } = setup;
    let session = match session {
        Some(session) => session,
        None => link.create(&title(&text)).await?,
    };
    let wanted = Wanted { session: session.id.clone(), view, thinking: Thinking::AsUsual };
    let mut told = follow(link.clone(), wanted);
    let look = Look { size: Size::UNBOUNDED, links: Links::Spelled };
    let mut page = Page::new(view, look);
    page.leave_out_prompts();
    let mut out = Plain::new(stdout());
    let mut unsent = Some(text);
    let mut run = None;
    while let Some(told) = told.recv().await {
        let mut missed = None;
        match told {
            Told::Page(picture) => {
                if print == Print::Frames {
                    write_frame("snapshot", &json!({ "picture": &*picture }))?;
                }
                if let Some(text) = unsent.take() {
                    // What was there before is not asked for.
                    page.skip(*picture);
                    run = Some(send(&link, &session, text).await?);
                } else {
                    // Others may have begun and ended while nothing was heard.
                    page.put(*picture);
                    missed = outcome(&link, run.as_deref()).await?;
                }
            }
            Told::Patch(data) => {
                if print == Print::Frames {
                    write_frame("patch", &serde_json::from_str(&data).map_err(io::Error::from)?)?;
                }
                let change = page.patch(&data).map_err(|fault| io::Error::other(fault.problem))?;
                if change == Change::Asked {
                    say(&asked_words(&link, &session));
                }
            }
            Told::Away(words) => say(&format!("{words}; trying again")),
            Told::Back => {}
            Told::Over(trouble) => return Err(trouble.into()),
        }
        let settled = page.take_settled();
        if print == Print::Text {
            out.write(&settled)?;
        }
        let ended = page.picture().ended.as_ref();
        let ended = ended.filter(|ended| run.as_deref() == Some(&*ended.run)).map(Answered::from);
        if let Some(answered) = ended.or(missed) {
            out.finish()?;
            return Ok(answered);
        }
    }
    Err(Unanswered::Over)
}

/// How the run ended, if it has.
async fn outcome(link: &Link, run: Option<&str>) -> Result<Option<Answered>, Trouble> {
    let Some(run) = run else { return Ok(None) };
    let outcome = match work::persistent(|| link.outcome(run)).await {
        // It has not begun.
        Err(Trouble::Refused { status: 404, .. }) => None,
        outcome => outcome?,
    };
    Ok(outcome.map(|outcome| {
        let words = format!("The run has ended as {}", outcome.as_str());
        Answered { outcome, words: (outcome != Outcome::Completed).then_some(words) }
    }))
}

/// Gives the run that will answer.
async fn send(link: &Link, session: &Session, text: String) -> Result<String, Trouble> {
    work::send(link, &session.id, &work::message(text, false)).await
}

fn asked_words(link: &Link, session: &Session) -> String {
    let page = link.page_of(Some(session));
    format!("the agent asks something: answer with `millpond -r {}`, or at {page}", session.id)
}

fn write_frame(event: &str, data: &Value) -> io::Result<()> {
    let mut out = stdout().lock();
    writeln!(out, "{}", json!({ "event": event, "data": data }))?;
    out.flush()
}
