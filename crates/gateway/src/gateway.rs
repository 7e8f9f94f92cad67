//! The state of a running gateway, shared by all endpoints.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use millpond_engine::view::ViewName;
use tokio::sync::{Semaphore, watch};

use crate::access::{Caller, FailedAttempts, LoginLinks, OriginPolicy, Scheme, Secret};
use crate::channel::Channels;
use crate::connection_limits::ConnectionLimits;
use crate::limits::{ALL_VIEWS_READERS_MAX, INGEST_BYTES_MAX, MERGE_WINDOW};
use crate::site::Site;
use millpond_log::Log;
use millpond_log::agent::Agent;
use millpond_log::clock::{now_ms, random_bytes};
use millpond_log::id::{OwnerId, RunId, SessionId, TokenId};
use millpond_log::scheduler::Scheduler;
use millpond_log::store::{CredentialStore, Session, Store, StoreError, Token};

/// A running gateway.
#[derive(Debug)]
pub struct Gateway {
    pub log: Log,
    pub scheduler: Arc<Scheduler>,
    pub channels: Channels,
    pub origin_policy: OriginPolicy,
    pub failed_attempts: FailedAttempts,
    pub login_links: LoginLinks,
    /// Scheme of the URLs with which clients connect.
    pub scheme: Scheme,
    pub connection_limits: ConnectionLimits,
    credential_store: SharedCredentialStore,
    /// Incremented whenever access is revoked; open streams then check again.
    pub revocations: watch::Sender<u64>,
    /// Incremented on every revocation and on stop.
    access_epoch: AtomicU64,
    /// Bytes of one ingested stream.
    pub ingest_bytes_max: usize,
    /// View of readers that do not name one.
    pub default_view: ViewName,
    /// Limits readers of all views at once, which cost more than others.
    pub all_views_permits: Arc<Semaphore>,
    /// The web site beside the API; may be empty.
    pub site: Site,
}

/// The credential store, with an opaque `Debug`.
struct SharedCredentialStore(Arc<dyn CredentialStore>);

impl std::fmt::Debug for SharedCredentialStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keys(…)")
    }
}

impl Gateway {
    /// Opens a gateway on a store. Runs left open by an earlier process are ended first.
    pub async fn open_and_recover_runs<S: Store + CredentialStore>(
        store: Arc<S>,
        allowed: OriginPolicy,
        scheme: Scheme,
        agent: Option<Arc<dyn Agent>>,
    ) -> Result<Gateway, StoreError> {
        let credential_store: Arc<dyn CredentialStore> =
            Arc::clone(&store) as Arc<dyn CredentialStore>;
        let scheduler = Arc::new(Scheduler::open_and_recover_runs(store, agent).await?);
        let log = scheduler.log.clone();
        Ok(Gateway {
            channels: Channels::new(log.clone(), MERGE_WINDOW),
            scheduler,
            log,
            origin_policy: allowed,
            failed_attempts: FailedAttempts::default(),
            login_links: LoginLinks::default(),
            scheme,
            connection_limits: ConnectionLimits::default(),
            credential_store: SharedCredentialStore(credential_store),
            revocations: watch::Sender::new(0),
            access_epoch: AtomicU64::new(0),
            ingest_bytes_max: INGEST_BYTES_MAX,
            default_view: ViewName::Latest,
            all_views_permits: Arc::new(Semaphore::new(ALL_VIEWS_READERS_MAX)),
            site: Site::default(),
        })
    }

    /// Calls the credential store on a blocking thread.
    pub async fn call_credential_store<T: Send + 'static>(
        &self,
        call: impl FnOnce(&dyn CredentialStore) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let credentials = Arc::clone(&self.credential_store.0);
        tokio::task::spawn_blocking(move || call(&*credentials))
            .await
            .unwrap_or_else(|error| Err(StoreError::Failed(error.to_string())))
    }

    /// The caller with this secret, or `None` if it is unknown or revoked.
    pub async fn authenticate(&self, secret: &Secret) -> Result<Option<Caller>, StoreError> {
        let digest = secret.digest();
        self.call_credential_store(move |store| {
            if let Some(token) = store
                .token_by_digest_even_revoked(digest)?
                .filter(|token| token.revoked_ms.is_none())
            {
                return Ok(Some(Caller::Owner { owner: token.owner, token: token.id }));
            }
            let share = store.share_by_digest(digest)?;
            Ok(share.map(|share| Caller::Guest { session: share.session, digest }))
        })
        .await
    }

    /// True if the caller's credential has not been revoked since.
    pub async fn is_still_authorised(&self, caller: Caller) -> bool {
        let check = self.call_credential_store(move |store| match caller {
            Caller::Owner { owner, token } => {
                let tokens = store.owner_tokens_even_revoked(owner)?;
                Ok(tokens.iter().any(|listed| listed.id == token && listed.revoked_ms.is_none()))
            }
            Caller::Guest { digest, .. } => Ok(store.share_by_digest(digest)?.is_some()),
        });
        check.await.unwrap_or(false)
    }

    /// Creates a new token for an owner.
    pub async fn issue_token(
        &self,
        owner: OwnerId,
        label: &str,
    ) -> Result<(TokenId, Secret), StoreError> {
        let (secret, now) = (Secret::generate().map_err(StoreError::from)?, now_ms());
        let id = TokenId::new(now, random_bytes().map_err(StoreError::from)?);
        let token = Token {
            id,
            owner,
            digest: secret.digest(),
            label: label.to_owned(),
            created_ms: now,
            revoked_ms: None,
        };
        self.call_credential_store(move |store| store.store_token(&token)).await?;
        Ok((id, secret))
    }

    /// The session, if the caller may see it; another owner's session is `None`.
    pub async fn load_visible_session(
        &self,
        caller: Caller,
        session: SessionId,
    ) -> Result<Option<Session>, StoreError> {
        let session_row =
            self.log.call_store(move |store| store.load_session_even_deleted(session)).await?;
        Ok(session_row.filter(|row| match caller {
            Caller::Owner { owner, .. } => row.owner == owner,
            Caller::Guest { session, .. } => row.id == session && row.deleted_ms.is_none(),
        }))
    }

    /// Creates a session and notifies subscribers.
    pub async fn create_session_and_notify(
        &self,
        owner: OwnerId,
        title: &str,
    ) -> Result<Session, StoreError> {
        let session = Session::new(owner, title, now_ms())?;
        let stored = session.clone();
        self.log.call_store(move |store| store.create_session(&stored)).await?;
        self.log.session_changes().notify_changed(session.id);
        Ok(session)
    }

    /// Ends the streams of an erased session and tells subscribers to list again.
    pub fn end_streams_and_announce_erased_session(&self, session: SessionId) {
        self.log.drop_tail_and_end_followers(session);
        self.log.session_changes().notify_some_sessions_erased();
    }

    /// Makes open streams check their access again.
    pub fn make_streams_recheck_access(&self) {
        self.revocations.send_modify(|count| *count += 1);
        self.increment_access_epoch_and_wake();
    }

    /// Marks the gateway as stopping, and wakes all streams so that they end.
    pub fn set_stopping_and_wake_streams(&self) {
        self.scheduler.stopping.send_replace(true);
        self.increment_access_epoch_and_wake();
    }

    fn increment_access_epoch_and_wake(&self) {
        // Count first, so that a reader joining after the wake-up sees the new value.
        self.access_epoch.fetch_add(1, Ordering::SeqCst);
        self.channels.wake_all_readers();
    }

    /// Changes whenever open streams must check their access.
    pub fn access_epoch(&self) -> u64 {
        self.access_epoch.load(Ordering::SeqCst)
    }

    /// Returns a fresh run id.
    pub fn generate_run_id(&self) -> Result<RunId, StoreError> {
        Ok(RunId::new(now_ms(), random_bytes().map_err(StoreError::from)?))
    }
}
