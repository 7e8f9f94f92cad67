//! Where logs are kept: the narrow door behind which any durable, ordered store can stand.
//!
//! Correctness rests on `append` and `read` alone: a batch is kept whole or not at all, its first
//! record stands at the session's head, and what was appended is read back in order, each record
//! once. Calls block; whoever needs to be awake calls from a thread of its own.

use std::sync::Arc;

use engine::event::{Image, Millis, Outcome, Record};

use crate::id::{OwnerId, QueuedId, RunId, SessionId, ShareId, TokenId};

pub mod sqlite;

/// Why a store did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    #[error("there is no session {0}")]
    NoSession(SessionId),
    #[error("the log of session {session} ends at {head}, not at {first}")]
    NotAtHead { session: SessionId, head: u64, first: u64 },
    #[error("run {0} has ended")]
    RunEnded(RunId),
    #[error("no room is left on the disk")]
    Full,
    #[error("the log of session {session} is damaged at record {seq}: {detail}")]
    Damaged { session: SessionId, seq: u64, detail: String },
    #[error("the store failed: {0}")]
    Failed(String),
}

/// Records of one session in a row, as one text: a JSON line each, with its newline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Number of the first record.
    pub first: u64,
    /// How many there are.
    pub len: u64,
    pub lines: Arc<str>,
}

impl Chunk {
    /// The number after the last record's.
    pub fn end(&self) -> u64 {
        self.first + self.len
    }

    /// The records from `from` on. A line that is no record ends it with an error.
    pub fn records(&self, from: u64) -> impl Iterator<Item = serde_json::Result<Record<'_>>> {
        let skipped = usize::try_from(from.saturating_sub(self.first)).unwrap_or(usize::MAX);
        self.lines.lines().skip(skipped).map(serde_json::from_str)
    }
}

/// What one append adds to one session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    pub session: SessionId,
    /// When it happened. A batch with a turn in it moves its session to the top of the list.
    pub at_ms: Millis,
    pub chunk: Chunk,
    /// Runs that begin and end in it, in order.
    pub turns: Vec<Turn>,
    /// Visible texts that a search is to find the session by.
    pub texts: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Turn {
    Began { run: RunId, seq: u64 },
    Ended { run: RunId, seq: u64, outcome: Outcome, used: Used },
}

/// What a run, or all of them, used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    pub tokens_in: u64,
    pub tokens_out: u64,
    /// In millionths of a US dollar; what has no known price is not in it.
    pub cost_micro_usd: u64,
}

/// What is known about a session beside its log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    pub id: SessionId,
    pub owner: OwnerId,
    pub title: String,
    pub created_ms: Millis,
    pub changed_ms: Millis,
    /// Number of the next record.
    pub head: u64,
    pub pinned: bool,
    pub archived: bool,
    /// When it was deleted; it can be brought back for a while.
    pub deleted_ms: Option<Millis>,
    /// The session it began as, and up to which record.
    pub parent: Option<(SessionId, u64)>,
}

/// What may change about a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    pub title: Option<String>,
    pub pinned: Option<bool>,
    pub archived: Option<bool>,
    /// `Some(None)` brings it back.
    pub deleted_ms: Option<Option<Millis>>,
}

/// Which sessions of an owner, newest change first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// Words that title or texts must hold; the last one may be the beginning of a word.
    pub words: Option<String>,
    /// Those in the archive, else those not in it.
    pub archived: bool,
    /// Only those that changed before this; the last one of the page before.
    pub before: Option<(Millis, SessionId)>,
    pub limit: usize,
}

/// A run as its first and last record tell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunRow {
    pub id: RunId,
    pub session: SessionId,
    pub first: u64,
    pub ended: Option<(u64, Outcome)>,
    pub used: Used,
}

/// A message that waits for its turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queued {
    pub id: QueuedId,
    pub text: String,
    /// Pictures that the person shows with it; they are kept already.
    pub images: Vec<Image<'static>>,
    pub accepted_ms: Millis,
}

/// A credential; only its digest is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub id: TokenId,
    pub owner: OwnerId,
    pub digest: [u8; 32],
    pub label: String,
    pub created_ms: Millis,
    pub revoked_ms: Option<Millis>,
}

/// A read-only link; only its digest is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    pub id: ShareId,
    pub session: SessionId,
    pub digest: [u8; 32],
    pub created_ms: Millis,
}

/// Who may come in.
pub trait Vault: Send + Sync + 'static {
    /// Whoever has had a token, first come first.
    fn owners(&self) -> Result<Vec<OwnerId>, StoreError>;
    fn put_token(&self, token: &Token) -> Result<(), StoreError>;
    fn token(&self, digest: [u8; 32]) -> Result<Option<Token>, StoreError>;
    fn tokens(&self, owner: OwnerId) -> Result<Vec<Token>, StoreError>;
    /// Says whether there was such a token of this owner.
    fn revoke_token(&self, owner: OwnerId, token: TokenId, now: Millis)
    -> Result<bool, StoreError>;
    fn put_share(&self, share: &Share) -> Result<(), StoreError>;
    fn share(&self, digest: [u8; 32]) -> Result<Option<Share>, StoreError>;
    fn shares(&self, session: SessionId) -> Result<Vec<Share>, StoreError>;
    fn revoke_share(&self, session: SessionId, share: ShareId) -> Result<bool, StoreError>;
}

pub trait Store: Send + Sync + 'static {
    /// Changes when the log may have lost its end.
    fn epoch(&self) -> u32;

    /// Keeps all batches or none. Returns once a crash of this process can no longer lose them.
    /// A record of a run that has ended is refused.
    fn append(&self, batches: &[Batch]) -> Result<(), StoreError>;

    /// Chunks that hold the records from `from` on, in order, about `bytes_max` in all. The first
    /// chunk may begin before `from`. Nothing means that the log ends there. Where a record is
    /// damaged, what stands before it can still be read.
    fn read(
        &self,
        session: SessionId,
        from: u64,
        bytes_max: usize,
    ) -> Result<Vec<Chunk>, StoreError>;

    fn create(&self, session: &Session) -> Result<(), StoreError>;
    fn session(&self, session: SessionId) -> Result<Option<Session>, StoreError>;
    fn sessions(&self, owner: OwnerId, query: &Query) -> Result<Vec<Session>, StoreError>;
    fn change(&self, session: SessionId, change: &Change, now: Millis) -> Result<(), StoreError>;
    /// Begins `branch` as `session` is up to `end`, blobs included. Its runs stay the runs of
    /// `session`: what they used was used once.
    /// `closing` ends what is open there; it is in the branch alone.
    fn branch(
        &self,
        session: SessionId,
        end: u64,
        branch: &Session,
        closing: Option<&Chunk>,
    ) -> Result<(), StoreError>;
    /// Removes a session for good: its records, runs, queue, blobs and what was found in it. What
    /// its runs used still counts for its owner.
    fn erase(&self, session: SessionId) -> Result<(), StoreError>;

    fn run(&self, run: RunId) -> Result<Option<RunRow>, StoreError>;
    fn runs(&self, session: SessionId) -> Result<Vec<RunRow>, StoreError>;
    /// What all runs of an owner used, or of one session.
    fn used(&self, owner: OwnerId, session: Option<SessionId>) -> Result<Used, StoreError>;
    /// Runs that were never ended: nobody works on them when a store is opened.
    fn open_runs(&self) -> Result<Vec<RunRow>, StoreError>;

    /// All waiting messages of a session, in order, replaced by these.
    fn set_queue(&self, session: SessionId, queue: &[Queued]) -> Result<(), StoreError>;
    fn queue(&self, session: SessionId) -> Result<Vec<Queued>, StoreError>;
    /// Sessions in which messages wait, but for deleted ones.
    fn queued(&self) -> Result<Vec<SessionId>, StoreError>;

    /// Keeps bytes under their digest (SHA-256), for as long as a session has them.
    fn put_blob(
        &self,
        session: SessionId,
        digest: [u8; 32],
        kind: &str,
        bytes: &[u8],
    ) -> Result<(), StoreError>;
    fn blob(
        &self,
        session: SessionId,
        digest: [u8; 32],
    ) -> Result<Option<(String, Vec<u8>)>, StoreError>;
}
