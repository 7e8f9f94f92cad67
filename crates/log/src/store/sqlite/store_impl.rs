//! Implementations of `Store` and `CredentialStore`; each call is passed to the module that holds
//! its SQL.

use std::sync::atomic::Ordering;

use millpond_engine::event::Millis;

use super::{SqliteStore, append, blobs, branch, chunk_rows, credentials, queue, runs, sessions};
use crate::id::{OwnerId, RunId, SessionId, ShareId, TokenId};
use crate::limits::FREE_BYTES_MIN;
use crate::store::{
    Batch, Chunk, CredentialStore, QueuedMessage, RunRow, Session, SessionQuery, SessionUpdate,
    Share, Store, StoreError, Token, TokenUsage,
};

type StoreResult<T> = Result<T, StoreError>;

impl Store for SqliteStore {
    fn reopen_count(&self) -> u32 {
        self.core.reopen_count.load(Ordering::Acquire)
    }

    fn check_writable(&self) -> StoreResult<()> {
        self.core.signals.check_not_failed()?;
        let folder = self.core.path.parent().unwrap_or(&self.core.path);
        let space = rustix::fs::statvfs(folder)
            .map_err(|error| StoreError::Failed(format!("{}: {error}", folder.display())))?;
        if space.f_bavail.saturating_mul(space.f_frsize) < FREE_BYTES_MIN {
            return Err(StoreError::Full);
        }
        Ok(())
    }

    fn append(&self, batches: &[Batch]) -> StoreResult<()> {
        if self
            .core
            .write_transaction(|file| append::append_batches_and_return_run_ended(file, batches))?
        {
            self.core.signals.notify_run_ended();
        }
        Ok(())
    }

    fn read(&self, session: SessionId, from: u64, bytes_max: usize) -> StoreResult<Vec<Chunk>> {
        let mut chunks = self.core.read_transaction(|file| {
            chunk_rows::read_chunks_up_to_damage(file, session, from, bytes_max)
        })?;
        for chunk in &mut chunks {
            chunk.epoch = self.core.epoch_of_row(chunk.epoch);
        }
        Ok(chunks)
    }

    fn record_epoch(&self, session: SessionId, seq: u64) -> StoreResult<Option<u64>> {
        let epoch = self
            .core
            .read_transaction(|file| chunk_rows::select_record_epoch(file, session, seq))?;
        Ok(epoch.map(|epoch| self.core.epoch_of_row(epoch)))
    }

    fn create_session(&self, session: &Session) -> StoreResult<()> {
        let empty = Session { head: 0, ..session.clone() };
        self.core.write_transaction(|file| sessions::insert_session(file, &empty).map(drop))
    }

    fn load_session_even_deleted(&self, session: SessionId) -> StoreResult<Option<Session>> {
        self.core.read_transaction(|file| sessions::select_session_even_deleted(file, session))
    }

    fn list_sessions_of_owner_by_query(
        &self,
        owner: OwnerId,
        query: &SessionQuery,
    ) -> StoreResult<Vec<Session>> {
        self.core.read_transaction(|file| sessions::select_sessions_of_owner(file, owner, query))
    }

    fn update_session(
        &self,
        session: SessionId,
        change: &SessionUpdate,
        now: Millis,
    ) -> StoreResult<()> {
        self.core.write_transaction(|file| sessions::update_session(file, session, change, now))
    }

    fn branch_session(
        &self,
        session: SessionId,
        end: u64,
        branch: &Session,
        closing: Option<&Chunk>,
    ) -> StoreResult<()> {
        self.core.write_transaction(|file| {
            branch::insert_branch_session(file, session, end, branch, closing)
        })
    }

    fn erase_session(&self, session: SessionId) -> StoreResult<()> {
        self.core.write_transaction(|file| sessions::erase_session_but_keep_usage(file, session))
    }

    fn load_run(&self, run: RunId) -> StoreResult<Option<RunRow>> {
        self.core.read_transaction(|file| runs::select_run(file, run))
    }

    fn session_runs(&self, session: SessionId) -> StoreResult<Vec<RunRow>> {
        self.core.read_transaction(|file| runs::select_session_runs(file, session))
    }

    fn usage_of_owner_or_session(
        &self,
        owner: OwnerId,
        session: Option<SessionId>,
    ) -> StoreResult<TokenUsage> {
        self.core
            .read_transaction(|file| runs::select_usage_of_owner_or_session(file, owner, session))
    }

    fn list_open_runs(&self) -> StoreResult<Vec<RunRow>> {
        self.core.read_transaction(|file| runs::select_open_runs(file))
    }

    fn set_queue(&self, session: SessionId, queue: &[QueuedMessage]) -> StoreResult<()> {
        self.core.write_transaction(|file| queue::replace_queue(file, session, queue))
    }

    fn load_queue(&self, session: SessionId) -> StoreResult<Vec<QueuedMessage>> {
        self.core.read_transaction(|file| queue::select_queue(file, session))
    }

    fn undeleted_sessions_with_queue(&self) -> StoreResult<Vec<SessionId>> {
        self.core.read_transaction(|file| queue::select_undeleted_sessions_with_queue(file))
    }

    fn store_blob_for_session(
        &self,
        session: SessionId,
        digest: [u8; 32],
        kind: &str,
        bytes: &[u8],
    ) -> StoreResult<()> {
        blobs::validate_blob(&digest, bytes)?;
        self.core.write_transaction(|file| {
            blobs::insert_blob_and_session_ref(file, session, &digest, kind, bytes)
        })
    }

    fn load_blob_of_session(
        &self,
        session: SessionId,
        digest: [u8; 32],
    ) -> StoreResult<Option<(String, Vec<u8>)>> {
        self.core
            .read_transaction(|file| blobs::select_verified_blob_of_session(file, session, &digest))
    }
}

impl CredentialStore for SqliteStore {
    fn list_token_owners_even_revoked(&self) -> StoreResult<Vec<OwnerId>> {
        self.core.read_transaction(|file| credentials::select_token_owners(file))
    }

    fn store_token(&self, token: &Token) -> StoreResult<()> {
        self.core.write_transaction(|file| credentials::insert_token(file, token))
    }

    fn token_by_digest_even_revoked(&self, digest: [u8; 32]) -> StoreResult<Option<Token>> {
        self.core.read_transaction(|file| credentials::select_token_even_revoked(file, digest))
    }

    fn owner_tokens_even_revoked(&self, owner: OwnerId) -> StoreResult<Vec<Token>> {
        self.core
            .read_transaction(|file| credentials::select_owner_tokens_even_revoked(file, owner))
    }

    fn revoke_token_of_owner(
        &self,
        owner: OwnerId,
        token: TokenId,
        now: Millis,
    ) -> StoreResult<bool> {
        self.core
            .write_transaction(|file| credentials::revoke_token_of_owner(file, owner, token, now))
    }

    fn store_share(&self, share: &Share) -> StoreResult<()> {
        self.core.write_transaction(|file| credentials::insert_share(file, share))
    }

    fn share_by_digest(&self, digest: [u8; 32]) -> StoreResult<Option<Share>> {
        self.core.read_transaction(|file| credentials::select_share_by_digest(file, digest))
    }

    fn session_shares(&self, session: SessionId) -> StoreResult<Vec<Share>> {
        self.core.read_transaction(|file| credentials::select_session_shares(file, session))
    }

    fn delete_share_of_session(&self, session: SessionId, share: ShareId) -> StoreResult<bool> {
        self.core
            .write_transaction(|file| credentials::delete_share_of_session(file, session, share))
    }
}
