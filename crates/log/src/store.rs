//! The store trait: durable, ordered storage for logs.
//!
//! Correctness rests on `append` and `read`: a batch is stored whole or not at all, its first
//! record is at the session's head, and records are read back in order, each once. All calls block;
//! call them from a blocking thread.

use std::path::PathBuf;
use std::sync::Arc;

use millpond_engine::event::{Image, Millis, Outcome, PromptOrigin, Record};

use crate::clock::random_bytes;
use crate::id::{OwnerId, QueuedId, RunId, SessionId, ShareId, TokenId};

pub mod sqlite;

/// Reason why a store call failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    #[error("no session {0}")]
    NoSession(SessionId),
    #[error("the log of session {session} ends at {head}, not at {first}")]
    NotAtHead { session: SessionId, head: u64, first: u64 },
    #[error("run {0} has ended")]
    RunEnded(RunId),
    #[error("the disk is full")]
    Full,
    #[error("the log of session {session} is damaged at record {seq}: {detail}")]
    Damaged { session: SessionId, seq: u64, detail: String },
    /// Another process has the data folder open.
    #[error(
        "{} is in use by another gateway: stop that one, or choose another data folder with --data",
        .folder.display()
    )]
    InUse { folder: PathBuf },
    #[error("the store failed: {0}")]
    Failed(String),
}

impl From<getrandom::Error> for StoreError {
    fn from(error: getrandom::Error) -> StoreError {
        StoreError::Failed(format!("cannot get random bytes from the operating system: {error}"))
    }
}

/// Consecutive records of one session as JSON lines, each with its newline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Epoch of its writer: drawn at random whenever a run begins or a process first writes to a
    /// session. Two records with the same number and epoch are the same, whatever was restored,
    /// erased or lost in between.
    pub epoch: u64,
    /// Sequence number of the first record.
    pub first: u64,
    /// Number of records.
    pub len: u64,
    pub lines: Arc<str>,
}

impl Chunk {
    /// Sequence number after the last record.
    pub fn next_seq(&self) -> u64 {
        self.first + self.len
    }

    /// Parses the records from `from` on.
    pub fn parse_records_from(
        &self,
        from: u64,
    ) -> impl Iterator<Item = serde_json::Result<Record<'_>>> {
        let skipped = usize::try_from(from.saturating_sub(self.first)).unwrap_or(usize::MAX);
        self.lines.lines().skip(skipped).map(serde_json::from_str)
    }
}

/// Records that one append adds to one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    pub session: SessionId,
    pub run: RunId,
    /// Time of the append. A batch with a run boundary moves its session to the top of the list.
    pub at_ms: Millis,
    pub chunk: Chunk,
    /// Beginning and end of the run, as far as they are in it. No record follows the end.
    pub run_boundaries: Vec<RunBoundary>,
    /// Visible texts to index for search.
    pub searchable_texts: Vec<String>,
}

/// Beginning or end of the run of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunBoundary {
    Began { seq: u64 },
    Ended { seq: u64, outcome: Outcome, usage: TokenUsage },
}

/// Tokens and cost of one run, or of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenUsage {
    pub tokens_in: u64,
    pub tokens_out: u64,
    /// In millionths of a US dollar; usage without a known price is not included.
    pub cost_micro_usd: u64,
}

/// Metadata of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    pub id: SessionId,
    pub owner: OwnerId,
    pub title: String,
    pub created_ms: Millis,
    pub changed_ms: Millis,
    /// Sequence number of the next record.
    pub head: u64,
    pub pinned: bool,
    pub archived: bool,
    /// Time of deletion; the session can be restored for `UNDO_WINDOW`.
    pub deleted_ms: Option<Millis>,
    /// For a branch: the parent session and how many of its records it starts with.
    pub parent: Option<(SessionId, u64)>,
}

impl Session {
    /// Returns a new, empty session with a fresh id.
    pub fn new(owner: OwnerId, title: &str, now: Millis) -> Result<Session, StoreError> {
        Ok(Session {
            id: SessionId::new(now, random_bytes()?),
            owner,
            title: title.to_owned(),
            created_ms: now,
            changed_ms: now,
            head: 0,
            pinned: false,
            archived: false,
            deleted_ms: None,
            parent: None,
        })
    }
}

/// Changes to a session's metadata; `None` leaves a field unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionUpdate {
    pub title: Option<String>,
    pub pinned: Option<bool>,
    pub archived: Option<bool>,
    /// `Some(None)` restores the session.
    pub deleted_ms: Option<Option<Millis>>,
}

/// Filter for an owner's sessions, most recently changed first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionQuery {
    /// Words that the title or texts must contain; the last one may be a prefix.
    pub words: Option<String>,
    /// True for archived sessions only, false for the others only.
    pub archived: bool,
    /// Position after which to continue: the last session of the previous page.
    pub before: Option<(Millis, SessionId)>,
    pub limit: usize,
}

/// A run as the store indexes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunRow {
    pub id: RunId,
    pub session: SessionId,
    pub first: u64,
    pub ended: Option<(u64, Outcome)>,
    pub usage: TokenUsage,
}

/// A queued message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedMessage {
    pub id: QueuedId,
    pub text: String,
    /// Attached images; their blobs are stored already.
    pub images: Vec<Image<'static>>,
    pub origin: PromptOrigin,
    pub accepted_ms: Millis,
}

/// An access token; only its digest is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub id: TokenId,
    pub owner: OwnerId,
    pub digest: [u8; 32],
    pub label: String,
    pub created_ms: Millis,
    pub revoked_ms: Option<Millis>,
}

/// A read-only link to a session; only its digest is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    pub id: ShareId,
    pub session: SessionId,
    pub digest: [u8; 32],
    pub created_ms: Millis,
}

/// Storage for tokens and shared links.
pub trait CredentialStore: Send + Sync + 'static {
    /// Every owner who has had a token, oldest first.
    fn list_token_owners_even_revoked(&self) -> Result<Vec<OwnerId>, StoreError>;
    /// Stores a token.
    fn store_token(&self, token: &Token) -> Result<(), StoreError>;
    /// The token with this digest, also if revoked.
    fn token_by_digest_even_revoked(&self, digest: [u8; 32]) -> Result<Option<Token>, StoreError>;
    /// All tokens of an owner.
    fn owner_tokens_even_revoked(&self, owner: OwnerId) -> Result<Vec<Token>, StoreError>;
    /// Revokes a token. Returns false if the owner has no such token.
    fn revoke_token_of_owner(
        &self,
        owner: OwnerId,
        token: TokenId,
        now: Millis,
    ) -> Result<bool, StoreError>;
    /// Stores a shared link.
    fn store_share(&self, share: &Share) -> Result<(), StoreError>;
    /// The shared link with this digest.
    fn share_by_digest(&self, digest: [u8; 32]) -> Result<Option<Share>, StoreError>;
    /// All shared links of a session.
    fn session_shares(&self, session: SessionId) -> Result<Vec<Share>, StoreError>;
    /// Deletes a shared link. Returns false if there is none.
    fn delete_share_of_session(
        &self,
        session: SessionId,
        share: ShareId,
    ) -> Result<bool, StoreError>;
}

/// Storage for logs, sessions, runs, queues and blobs.
pub trait Store: Send + Sync + 'static {
    /// Increases whenever this process may have lost records that it has served.
    fn reopen_count(&self) -> u32;

    /// Fails if nothing could be stored now: after a disk failure, and on a full disk.
    fn check_writable(&self) -> Result<(), StoreError>;

    /// Stores all batches or none. Returns once a crash of the process cannot lose them. Fails with
    /// `RunEnded` for a record of an ended run.
    fn append(&self, batches: &[Batch]) -> Result<(), StoreError>;

    /// Chunks with the records from `from` on, in order, about `bytes_max` in all; empty at the
    /// end. The first chunk may begin before `from`. Records before a damaged one can still be
    /// read.
    fn read(
        &self,
        session: SessionId,
        from: u64,
        bytes_max: usize,
    ) -> Result<Vec<Chunk>, StoreError>;

    /// The epoch of one record. `None` if it does not exist.
    fn record_epoch(&self, session: SessionId, seq: u64) -> Result<Option<u64>, StoreError>;

    /// Stores a new, empty session.
    fn create_session(&self, session: &Session) -> Result<(), StoreError>;
    /// The session with this id.
    fn load_session_even_deleted(&self, session: SessionId) -> Result<Option<Session>, StoreError>;
    /// The sessions of an owner that match a query.
    fn list_sessions_of_owner_by_query(
        &self,
        owner: OwnerId,
        query: &SessionQuery,
    ) -> Result<Vec<Session>, StoreError>;
    /// Updates the metadata of a session.
    fn update_session(
        &self,
        session: SessionId,
        change: &SessionUpdate,
        now: Millis,
    ) -> Result<(), StoreError>;
    /// Creates `branch` with the first `end` records of `session`, including blobs. `closing` ends
    /// the run that is open there; only the branch has it. Runs and their usage still belong to
    /// `session`.
    fn branch_session(
        &self,
        session: SessionId,
        end: u64,
        branch: &Session,
        closing: Option<&Chunk>,
    ) -> Result<(), StoreError>;
    /// Deletes a session permanently: records, runs, queue, blobs and search texts. Its usage still
    /// counts for its owner.
    fn erase_session(&self, session: SessionId) -> Result<(), StoreError>;

    /// The run with this id.
    fn load_run(&self, run: RunId) -> Result<Option<RunRow>, StoreError>;
    /// All runs of a session.
    fn session_runs(&self, session: SessionId) -> Result<Vec<RunRow>, StoreError>;
    /// Usage of all runs of an owner, or of one session.
    fn usage_of_owner_or_session(
        &self,
        owner: OwnerId,
        session: Option<SessionId>,
    ) -> Result<TokenUsage, StoreError>;
    /// Runs without an ending. When a store is opened, none of them is active.
    fn list_open_runs(&self) -> Result<Vec<RunRow>, StoreError>;

    /// Replaces the queue of a session.
    fn set_queue(&self, session: SessionId, queue: &[QueuedMessage]) -> Result<(), StoreError>;
    /// The queue of a session, in order.
    fn load_queue(&self, session: SessionId) -> Result<Vec<QueuedMessage>, StoreError>;
    /// Sessions with queued messages, except deleted ones.
    fn undeleted_sessions_with_queue(&self) -> Result<Vec<SessionId>, StoreError>;

    /// Stores bytes under their SHA-256 digest, for as long as a session refers to them.
    fn store_blob_for_session(
        &self,
        session: SessionId,
        digest: [u8; 32],
        kind: &str,
        bytes: &[u8],
    ) -> Result<(), StoreError>;
    /// The media type and bytes of a blob, if the session refers to it.
    fn load_blob_of_session(
        &self,
        session: SessionId,
        digest: [u8; 32],
    ) -> Result<Option<(String, Vec<u8>)>, StoreError>;
}
