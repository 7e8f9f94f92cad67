//! A secret that nobody sees by accident: it has no `Debug`, and only its digest is ever kept.

use std::fmt;

use sha2::{Digest as _, Sha256};

use crate::clock::random;

/// What is kept of a secret. Secrets are 256 random bits, so a digest gives nothing away.
pub type Digest = [u8; 32];

#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

const PREFIX: &str = "mp_";
const RANDOM_BYTES: usize = 32;

impl Secret {
    pub fn new() -> Result<Secret, getrandom::Error> {
        use fmt::Write;
        let mut text = PREFIX.to_owned();
        for byte in random::<RANDOM_BYTES>()? {
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
        }
        Ok(Secret(text))
    }

    /// One as somebody showed it; what cannot be one is refused without being looked up.
    pub fn shown(text: &str) -> Option<Secret> {
        let digits = text.strip_prefix(PREFIX)?;
        let fits =
            digits.len() == 2 * RANDOM_BYTES && digits.bytes().all(|b| b.is_ascii_hexdigit());
        fits.then(|| Secret(text.to_owned()))
    }

    /// Looked up instead of the secret itself, so that no comparison's time tells anything about
    /// it.
    pub fn digest(&self) -> Digest {
        Sha256::digest(self.0.as_bytes()).into()
    }

    /// For the one who is given it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_reads_back_and_never_shows_itself() {
        let secret = Secret::new().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(Secret::shown(secret.reveal()), Some(secret.clone()));
        assert!(!format!("{secret:?}").contains(secret.reveal()));
    }

    #[test]
    fn what_cannot_be_a_secret_is_refused() {
        for text in
            ["", "mp_", "mp_zz", "Bearer x", &"a".repeat(67), &format!("mp_{}", "g".repeat(64))]
        {
            assert_eq!(Secret::shown(text), None, "{text}");
        }
    }
}
