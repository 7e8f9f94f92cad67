//! Ids as parsed types.
//!
//! An id is a ULID: a 48-bit time and 80 random bits, in Crockford's base 32. Ids sort by age,
//! cannot be guessed, and are never file names.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest, Sha256};
use ulid::{ULID_LEN, Ulid};

/// The text is not an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidId;

impl fmt::Display for InvalidId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not an id (expected 26 letters and digits)")
    }
}

impl std::error::Error for InvalidId {}

/// Parses the one canonical spelling: `Ulid` also reads lower case and look-alike letters, and two
/// spellings of one id would be two keys.
fn parse_canonical(text: &str) -> Result<Ulid, InvalidId> {
    let id = Ulid::from_string(text).map_err(|_| InvalidId)?;
    if id.array_to_str(&mut [0; ULID_LEN]) == text { Ok(id) } else { Err(InvalidId) }
}

macro_rules! define_ids {
    ($($(#[$doc:meta])* $name:ident,)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Ulid);

        impl $name {
            /// Creates an id from a time and random bytes.
            pub fn new(at_ms: u64, random: [u8; 10]) -> $name {
                let random = random.iter().fold(0, |bits, &byte| (bits << 8) | u128::from(byte));
                $name(Ulid::from_parts(at_ms, random))
            }

            /// Derives the id from a client's own key: the same key gives the same id.
            pub fn from_key(key: &str) -> $name {
                let digest: [u8; 32] = Sha256::digest(key.as_bytes()).into();
                let mut first = [0; 16];
                first.copy_from_slice(&digest[..16]);
                $name(Ulid::from_bytes(first))
            }

            /// Big-endian bytes, as stored; they sort as the id does.
            pub fn to_bytes(self) -> [u8; 16] {
                self.0.to_bytes()
            }

            /// Reverses `to_bytes`.
            pub fn from_bytes(bytes: [u8; 16]) -> $name {
                $name(Ulid::from_bytes(bytes))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{self}")
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(text: &str) -> Result<$name, InvalidId> {
                parse_canonical(text).map($name)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$name, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
            }
        }
    )+};
}

define_ids! {
    /// A session: one conversation, one log.
    SessionId,
    /// One run in a session.
    RunId,
    /// The owner of sessions and tokens.
    OwnerId,
    /// A queued message.
    QueuedId,
    /// An access token.
    TokenId,
    /// A read-only link to a session.
    ShareId,
}

/// The run of a queued message has the message's id.
impl From<QueuedId> for RunId {
    fn from(message: QueuedId) -> RunId {
        RunId(message.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_reads_back_and_sorts_by_age() {
        let earlier = SessionId::new(1, [0xff; 10]);
        let later = SessionId::new(2, [0; 10]);
        assert!(earlier < later && earlier.to_string() < later.to_string());
        for id in [earlier, later, SessionId::new(u64::MAX, [0xa5; 10])] {
            assert_eq!(id.to_string().parse(), Ok(id));
            assert_eq!(SessionId::from_bytes(id.to_bytes()), id);
        }
    }

    #[test]
    fn what_is_no_id_is_refused() {
        let valid = RunId::new(1, [7; 10]).to_string();
        let invalid = ["", "..", "../../etc/passwd", &valid[1..], &format!("{valid}0"), "é"];
        for text in
            invalid.iter().copied().chain([&*valid.to_lowercase(), &valid.replace('0', "U")])
        {
            assert_eq!(text.parse::<RunId>(), Err(InvalidId), "{text}");
        }
        assert_eq!("8ZZZZZZZZZZZZZZZZZZZZZZZZZ".parse::<RunId>(), Err(InvalidId), "too large");
        assert!("7ZZZZZZZZZZZZZZZZZZZZZZZZZ".parse::<RunId>().is_ok());
    }
}
