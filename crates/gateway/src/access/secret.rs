//! A secret. Its `Debug` shows nothing, and only its digest is stored.

use std::fmt;

use sha2::{Digest as _, Sha256};

use millpond_log::clock::random_bytes;

/// Stored form of a secret. Secrets are 256 random bits, so the digest reveals nothing.
pub type SecretDigest = [u8; 32];

/// A token or one-time code as text.
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
    /// Generates a random secret.
    pub fn generate() -> Result<Secret, getrandom::Error> {
        use fmt::Write;
        let mut text = PREFIX.to_owned();
        for byte in random_bytes::<RANDOM_BYTES>()? {
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
        }
        Ok(Secret(text))
    }

    /// Parses a presented secret. `None` if it has the wrong form, without a lookup.
    pub fn parse(text: &str) -> Option<Secret> {
        let digits = text.strip_prefix(PREFIX)?;
        let is_valid =
            digits.len() == 2 * RANDOM_BYTES && digits.bytes().all(|b| b.is_ascii_hexdigit());
        is_valid.then(|| Secret(text.to_owned()))
    }

    /// Digest to look up, so that no comparison depends on the secret itself.
    pub fn digest(&self) -> SecretDigest {
        Sha256::digest(self.0.as_bytes()).into()
    }

    /// The secret itself, for its recipient.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_reads_back_and_never_shows_itself() {
        let secret = Secret::generate().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(Secret::parse(secret.reveal()), Some(secret.clone()));
        assert!(!format!("{secret:?}").contains(secret.reveal()));
    }

    #[test]
    fn what_cannot_be_a_secret_is_refused() {
        for text in
            ["", "mp_", "mp_zz", "Bearer x", &"a".repeat(67), &format!("mp_{}", "g".repeat(64))]
        {
            assert_eq!(Secret::parse(text), None, "{text}");
        }
    }
}
