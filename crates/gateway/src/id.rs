//! Ids as parsed types: what is no id of ours never gets further than here.
//!
//! An id is 128 random bits, of which the first 48 are the time, in Crockford's base 32 (a ULID), so
//! that ids sort by age and none can be guessed. They are never file names.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest, Sha256};

const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const LEN: usize = 26;

/// A word that is no id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAnId;

impl fmt::Display for NotAnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not an id: 26 letters and digits, as the gateway gave it out")
    }
}

impl std::error::Error for NotAnId {}

fn write(id: u128) -> [u8; LEN] {
    let mut text = [b'0'; LEN];
    let mut rest = id;
    for place in text.iter_mut().rev() {
        *place = DIGITS[(rest & 31) as usize];
        rest >>= 5;
    }
    text
}

fn read(text: &str) -> Result<u128, NotAnId> {
    if text.len() != LEN {
        return Err(NotAnId);
    }
    text.bytes().try_fold(0_u128, |id, byte| {
        let digit = DIGITS.iter().position(|&digit| digit == byte).ok_or(NotAnId)?;
        if id >> 123 != 0 {
            return Err(NotAnId);
        }
        Ok((id << 5) | digit as u128)
    })
}

/// The time in milliseconds and 80 random bits.
fn compose(at_ms: u64, random: [u8; 10]) -> u128 {
    let random = random.iter().fold(0_u128, |bits, &byte| (bits << 8) | u128::from(byte));
    (u128::from(at_ms & 0xffff_ffff_ffff) << 80) | random
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident,)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u128);

        impl $name {
            pub fn new(at_ms: u64, random: [u8; 10]) -> $name {
                $name(compose(at_ms, random))
            }

            /// The id of what somebody else has a name for: the same name is the same id.
            pub fn of_key(key: &str) -> $name {
                let digest: [u8; 32] = Sha256::digest(key.as_bytes()).into();
                let (first, _) = digest.split_at(16);
                $name(first.iter().fold(0, |id, &byte| (id << 8) | u128::from(byte)))
            }

            /// As a store keeps it; sorts as the id does.
            pub fn to_bytes(self) -> [u8; 16] {
                self.0.to_be_bytes()
            }

            pub fn from_bytes(bytes: [u8; 16]) -> $name {
                $name(u128::from_be_bytes(bytes))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(std::str::from_utf8(&write(self.0)).unwrap_or_default())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{self}")
            }
        }

        impl FromStr for $name {
            type Err = NotAnId;

            fn from_str(text: &str) -> Result<$name, NotAnId> {
                read(text).map($name)
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

ids! {
    /// A conversation: one log.
    SessionId,
    /// One run in it.
    RunId,
    /// Whoever a session belongs to.
    OwnerId,
    /// A message that waits for its turn.
    QueuedId,
    /// A credential.
    TokenId,
    /// A read-only link to a session.
    ShareId,
}

/// A message's run has its id.
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
        let early = SessionId::new(1, [0xff; 10]);
        let late = SessionId::new(2, [0; 10]);
        assert!(early < late && early.to_string() < late.to_string());
        for id in [early, late, SessionId::new(u64::MAX, [0xa5; 10])] {
            assert_eq!(id.to_string().parse(), Ok(id));
            assert_eq!(SessionId::from_bytes(id.to_bytes()), id);
        }
    }

    #[test]
    fn what_is_no_id_is_refused() {
        let good = RunId::new(1, [7; 10]).to_string();
        let bad = ["", "..", "../../etc/passwd", &good[1..], &format!("{good}0"), "é"];
        for text in bad.iter().copied().chain([&*good.to_lowercase(), &good.replace('0', "U")]) {
            assert_eq!(text.parse::<RunId>(), Err(NotAnId), "{text}");
        }
        assert_eq!("8ZZZZZZZZZZZZZZZZZZZZZZZZZ".parse::<RunId>(), Err(NotAnId), "too large");
        assert!("7ZZZZZZZZZZZZZZZZZZZZZZZZZ".parse::<RunId>().is_ok());
    }
}
