//! The traits, each call handed to the file that knows how.

use std::sync::atomic::Ordering;

use engine::event::Millis;

use super::{SqliteStore, append, blobs, branch, queue, rows, runs, sessions, vault};
use crate::id::{OwnerId, RunId, SessionId, ShareId, TokenId};
use crate::store::{
    Batch, Change, Chunk, Query, Queued, RunRow, Session, Share, Store, StoreError, Token, Used,
    Vault,
};

type Kept<T> = Result<T, StoreError>;

impl Store for SqliteStore {
    fn epoch(&self) -> u32 {
        self.core.epoch.load(Ordering::Acquire)
    }

    fn append(&self, batches: &[Batch]) -> Kept<()> {
        if self.core.write(|file| append::append(file, batches))? {
            self.core.signal.run_ended();
        }
        Ok(())
    }

    fn read(&self, session: SessionId, from: u64, bytes_max: usize) -> Kept<Vec<Chunk>> {
        self.core.read(|file| rows::read(file, session, from, bytes_max))
    }

    fn create(&self, session: &Session) -> Kept<()> {
        let empty = Session { head: 0, ..session.clone() };
        self.core.write(|file| sessions::create(file, &empty).map(drop))
    }

    fn session(&self, session: SessionId) -> Kept<Option<Session>> {
        self.core.read(|file| sessions::get(file, session))
    }

    fn sessions(&self, owner: OwnerId, query: &Query) -> Kept<Vec<Session>> {
        self.core.read(|file| sessions::list(file, owner, query))
    }

    fn change(&self, session: SessionId, change: &Change, now: Millis) -> Kept<()> {
        self.core.write(|file| sessions::change(file, session, change, now))
    }

    fn branch(
        &self,
        session: SessionId,
        end: u64,
        branch: &Session,
        closing: Option<&Chunk>,
    ) -> Kept<()> {
        self.core.write(|file| branch::branch(file, session, end, branch, closing))
    }

    fn erase(&self, session: SessionId) -> Kept<()> {
        self.core.write(|file| sessions::erase(file, session))
    }

    fn run(&self, run: RunId) -> Kept<Option<RunRow>> {
        self.core.read(|file| runs::run(file, run))
    }

    fn runs(&self, session: SessionId) -> Kept<Vec<RunRow>> {
        self.core.read(|file| runs::of(file, session))
    }

    fn used(&self, owner: OwnerId, session: Option<SessionId>) -> Kept<Used> {
        self.core.read(|file| runs::used(file, owner, session))
    }

    fn open_runs(&self) -> Kept<Vec<RunRow>> {
        self.core.read(|file| runs::open(file))
    }

    fn set_queue(&self, session: SessionId, queue: &[Queued]) -> Kept<()> {
        self.core.write(|file| queue::set(file, session, queue))
    }

    fn queue(&self, session: SessionId) -> Kept<Vec<Queued>> {
        self.core.read(|file| queue::get(file, session))
    }

    fn queued(&self) -> Kept<Vec<SessionId>> {
        self.core.read(|file| queue::queued(file))
    }

    fn put_blob(&self, session: SessionId, digest: [u8; 32], kind: &str, bytes: &[u8]) -> Kept<()> {
        blobs::admit(&digest, bytes)?;
        self.core.write(|file| blobs::put(file, session, &digest, kind, bytes))
    }

    fn blob(&self, session: SessionId, digest: [u8; 32]) -> Kept<Option<(String, Vec<u8>)>> {
        self.core.read(|file| blobs::get(file, session, &digest))
    }
}

impl Vault for SqliteStore {
    fn owners(&self) -> Kept<Vec<OwnerId>> {
        self.core.read(|file| vault::owners(file))
    }

    fn put_token(&self, token: &Token) -> Kept<()> {
        self.core.write(|file| vault::put_token(file, token))
    }

    fn token(&self, digest: [u8; 32]) -> Kept<Option<Token>> {
        self.core.read(|file| vault::token(file, digest))
    }

    fn tokens(&self, owner: OwnerId) -> Kept<Vec<Token>> {
        self.core.read(|file| vault::tokens(file, owner))
    }

    fn revoke_token(&self, owner: OwnerId, token: TokenId, now: Millis) -> Kept<bool> {
        self.core.write(|file| vault::revoke_token(file, owner, token, now))
    }

    fn put_share(&self, share: &Share) -> Kept<()> {
        self.core.write(|file| vault::put_share(file, share))
    }

    fn share(&self, digest: [u8; 32]) -> Kept<Option<Share>> {
        self.core.read(|file| vault::share(file, digest))
    }

    fn shares(&self, session: SessionId) -> Kept<Vec<Share>> {
        self.core.read(|file| vault::shares(file, session))
    }

    fn revoke_share(&self, session: SessionId, share: ShareId) -> Kept<bool> {
        self.core.write(|file| vault::revoke_share(file, session, share))
    }
}
