//! Configuration of a chat, and the report of its end.

use std::path::PathBuf;

use millpond_client::GatewayClient;
use millpond_client::sessions::Session;
use millpond_engine::view::ViewName;

use crate::hyperlinks::HyperlinkMode;
use crate::screen::TerminalFeatures;

/// Configuration of one chat.
#[derive(Debug)]
pub struct Setup {
    /// Client of the gateway that holds the conversation.
    pub client: GatewayClient,
    /// Session to continue; without one, the first message creates it.
    pub session: Option<Session>,
    /// First thing that the chat shows.
    pub start: ChatStart,
    /// View that the chat shows.
    pub view: ViewName,
    /// Screen or lines.
    pub display: DisplayMode,
    /// How hyperlinks are written.
    pub hyperlinks: HyperlinkMode,
    /// Working folder of the agent; file completion starts here.
    pub folder: PathBuf,
    /// Messages of earlier chats, oldest first.
    pub history: Vec<String>,
    /// File that new messages are appended to.
    pub history_file: Option<PathBuf>,
    /// First notice of the chat.
    pub greeting: String,
    /// Profiles of `/model`; `None` if the gateway is not ours.
    pub profiles: Option<Profiles>,
}

/// First thing that a chat shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChatStart {
    /// The session, or an empty page.
    Conversation,
    /// Sessions to choose from.
    SessionMenu,
}

/// Agent profiles that `/model` can switch between.
pub struct Profiles {
    /// Pairs of name and description.
    pub choices: Vec<(String, String)>,
    /// Switches to a profile; an error is shown to the user.
    pub select: SelectProfile,
}

type SelectProfile = Box<dyn Fn(&str) -> Result<(), String> + Send>;

impl std::fmt::Debug for Profiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Profiles").field(&self.choices).finish()
    }
}

/// How the chat writes to the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DisplayMode {
    /// A live region at the bottom that is redrawn.
    Screen(TerminalFeatures),
    /// Appended lines only: for screen readers and terminals without cursor movement.
    Lines,
}

/// State of the chat when it ended.
#[derive(Debug)]
pub struct ExitReport {
    /// Session that was open.
    pub session: Option<Session>,
    /// Panics of other threads that were not shown yet.
    pub panics: Vec<String>,
}
