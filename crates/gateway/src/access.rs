//! Who may come in: credentials, and the doors a browser can be tricked through.
//!
//! Invariant: a request is looked at in this order, and nothing of its body is read before: the
//! host it names, the page it comes from, the credential it shows.

mod attempts;
mod login;
mod origin;
mod secret;

pub use attempts::Attempts;
pub use login::Links;
pub use origin::{Allowed, Stranger, is_foreign};
pub use secret::{Digest, Secret};

use crate::id::{OwnerId, SessionId, TokenId};

/// Whoever makes a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    Owner {
        owner: OwnerId,
        token: TokenId,
    },
    /// Somebody with a link: may read this session.
    Guest {
        session: SessionId,
        digest: Digest,
    },
}
