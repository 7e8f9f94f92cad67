//! Access control: tokens, shared links, login links, and the host and origin checks for browsers.
//!
//! Invariant: a request is checked in this order, and its body is not read before: host, origin,
//! credential.

mod failed_attempts;
mod login_links;
mod origin;
mod secret;

pub use failed_attempts::FailedAttempts;
pub use login_links::LoginLinks;
pub use origin::{OriginPolicy, RejectedHeader, Scheme, has_cross_origin_fetch_site};
pub use secret::{Secret, SecretDigest};

use millpond_log::id::{OwnerId, SessionId, TokenId};

/// The authenticated caller of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    Owner {
        owner: OwnerId,
        token: TokenId,
    },
    /// Holder of a shared link: may read this session.
    Guest {
        session: SessionId,
        digest: SecretDigest,
    },
}
