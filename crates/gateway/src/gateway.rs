//! The parts of a gateway that is running, as its endpoints see them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use engine::event::Millis;
use engine::view::ViewName;
use tokio::sync::{Semaphore, watch};

use crate::access::{Allowed, Attempts, Caller, Links, Secret};
use crate::agent::{Agent, Job};
use crate::bounds::Bounds;
use crate::channel::Channels;
use crate::clock::{now_ms, random};
use crate::id::{OwnerId, RunId, SessionId, TokenId};
use crate::limits::{INGEST_BYTES_MAX, MERGE_WINDOW, THEATRE_SEATS_MAX};
use crate::log::Log;
use crate::messages::{Queues, Shared};
use crate::runs::{Runs, end_open_runs};
use crate::site::Site;
use crate::store::{Session, Store, StoreError, Token, Vault};

#[derive(Debug)]
pub struct Gateway {
    pub log: Log,
    pub channels: Channels,
    pub runs: Runs,
    pub queues: Arc<Queues>,
    /// Runs that an earlier process left waiting for an answer, until somebody works on them.
    waiting: Mutex<Vec<Job>>,
    /// Whoever works on messages, if anybody does.
    pub agent: Option<Shared>,
    pub allowed: Allowed,
    pub attempts: Attempts,
    pub links: Links,
    /// Whether callers come over TLS.
    pub tls: bool,
    pub bounds: Bounds,
    vault: Keys,
    /// Counts changes of who may see what; open streams look again at each.
    pub revocations: watch::Sender<u64>,
    /// Whether it is stopping; open streams then end, saying where to resume.
    pub stopping: watch::Sender<bool>,
    /// Counts changes of either.
    unrest: AtomicU64,
    /// Bytes of one stream that is taken in.
    pub ingest_bytes_max: usize,
    /// The view that readers get who name none.
    pub view: ViewName,
    /// Readers of all views at once cost more than others.
    pub theatre_seats: Arc<Semaphore>,
    /// The web site beside the API; empty where there is none.
    pub site: Site,
}

struct Keys(Arc<dyn Vault>);

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keys(…)")
    }
}

impl Gateway {
    /// Opens a gateway on a store. Runs that nobody works on are ended first.
    pub async fn open<S: Store + Vault>(
        store: Arc<S>,
        allowed: Allowed,
        tls: bool,
        agent: Option<Arc<dyn Agent>>,
    ) -> Result<Gateway, StoreError> {
        let vault: Arc<dyn Vault> = Arc::clone(&store) as Arc<dyn Vault>;
        let log = Log::open(store).map_err(|error| StoreError::Failed(error.to_string()))?;
        let runs = Runs::new(log.news().clone());
        let queues = Arc::<Queues>::default();
        let waiting = end_open_runs(&log, &runs, &queues, agent.as_deref()).await?;
        Ok(Gateway {
            channels: Channels::new(log.clone(), MERGE_WINDOW),
            runs,
            waiting: Mutex::new(waiting),
            log,
            queues,
            agent: agent.map(Shared),
            allowed,
            attempts: Attempts::default(),
            links: Links::default(),
            tls,
            bounds: Bounds::default(),
            vault: Keys(vault),
            revocations: watch::Sender::new(0),
            stopping: watch::Sender::new(false),
            unrest: AtomicU64::new(0),
            ingest_bytes_max: INGEST_BYTES_MAX,
            view: ViewName::Latest,
            theatre_seats: Arc::new(Semaphore::new(THEATRE_SEATS_MAX)),
            site: Site::default(),
        })
    }

    /// Calls the vault from a thread that may wait.
    pub async fn vault<T: Send + 'static>(
        &self,
        call: impl FnOnce(&dyn Vault) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let vault = Arc::clone(&self.vault.0);
        tokio::task::spawn_blocking(move || call(&*vault))
            .await
            .unwrap_or_else(|error| Err(StoreError::Failed(error.to_string())))
    }

    /// Whoever shows this secret, if it is good.
    pub async fn caller(&self, secret: &Secret) -> Result<Option<Caller>, StoreError> {
        let digest = secret.digest();
        self.vault(move |vault| {
            if let Some(token) = vault.token(digest)?.filter(|token| token.revoked_ms.is_none()) {
                return Ok(Some(Caller::Owner { owner: token.owner, token: token.id }));
            }
            let share = vault.share(digest)?;
            Ok(share.map(|share| Caller::Guest { session: share.session, digest }))
        })
        .await
    }

    /// Whether somebody who came in might still do so.
    pub async fn may_come_in(&self, caller: Caller) -> bool {
        let still = self.vault(move |vault| match caller {
            Caller::Owner { owner, token } => {
                let tokens = vault.tokens(owner)?;
                Ok(tokens.iter().any(|of| of.id == token && of.revoked_ms.is_none()))
            }
            Caller::Guest { digest, .. } => Ok(vault.share(digest)?.is_some()),
        });
        still.await.unwrap_or(false)
    }

    /// Gives an owner a new credential.
    pub async fn issue(
        &self,
        owner: OwnerId,
        label: &str,
    ) -> Result<(TokenId, Secret), StoreError> {
        let (secret, now) = (Secret::new().map_err(no_chance)?, now_ms());
        let id = TokenId::new(now, random().map_err(no_chance)?);
        let token = Token {
            id,
            owner,
            digest: secret.digest(),
            label: label.to_owned(),
            created_ms: now,
            revoked_ms: None,
        };
        self.vault(move |vault| vault.put_token(&token)).await?;
        Ok((id, secret))
    }

    /// The session, if the caller may see it. One of somebody else is none.
    pub async fn session_of(
        &self,
        caller: Caller,
        session: SessionId,
    ) -> Result<Option<Session>, StoreError> {
        let found = self.log.blocking(move |store| store.session(session)).await?;
        Ok(found.filter(|found| match caller {
            Caller::Owner { owner, .. } => found.owner == owner,
            Caller::Guest { session, .. } => found.id == session && found.deleted_ms.is_none(),
        }))
    }

    pub async fn create(&self, owner: OwnerId, title: &str) -> Result<Session, StoreError> {
        let session = new_session(owner, title, now_ms())?;
        let kept = session.clone();
        self.log.blocking(move |store| store.create(&kept)).await?;
        self.log.news().tell(session.id);
        Ok(session)
    }

    /// A session was removed from the store for good: its streams end, and whoever lists sessions is
    /// told to list again.
    pub fn erased(&self, session: SessionId) {
        self.log.forget(session);
        self.log.news().tell_erased();
    }

    /// Somebody may no longer see something: open streams look again.
    pub fn doubt(&self) {
        self.revocations.send_modify(|count| *count += 1);
        self.rouse();
    }

    /// It stops: open streams end.
    pub fn stop_streams(&self) {
        self.stopping.send_replace(true);
        self.rouse();
    }

    fn rouse(&self) {
        // First the count: whoever joins a channel after the others were roused sees it.
        self.unrest.fetch_add(1, Ordering::SeqCst);
        self.channels.rouse_all();
    }

    /// Another number whenever a stream has to look whether it may go on.
    pub fn unrest(&self) -> u64 {
        self.unrest.load(Ordering::SeqCst)
    }

    /// Runs that nobody has gone on with yet.
    pub fn take_waiting(&self) -> Vec<Job> {
        std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub fn new_run(&self) -> Result<RunId, StoreError> {
        Ok(RunId::new(now_ms(), random().map_err(no_chance)?))
    }
}

pub fn new_session(owner: OwnerId, title: &str, now: Millis) -> Result<Session, StoreError> {
    Ok(Session {
        id: SessionId::new(now, random().map_err(no_chance)?),
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

pub fn no_chance(error: getrandom::Error) -> StoreError {
    StoreError::Failed(format!("this machine gives no random numbers: {error}"))
}
