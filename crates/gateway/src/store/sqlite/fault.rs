//! What goes wrong inside, before it is told to a caller.

use std::fmt;

use rusqlite::{Error, ErrorCode, ffi};

use crate::id::SessionId;
use crate::store::StoreError;

/// Either an answer, or trouble with the file.
#[derive(Debug)]
pub(super) enum Fault {
    Refused(StoreError),
    Sql(Error),
}

impl Fault {
    /// The disk did not do what it was told, so that nobody knows what it holds now.
    pub(super) fn is_of_the_disk(&self) -> bool {
        !self.is_full() && self.code() == Some(ErrorCode::SystemIoFailure)
    }

    /// Room for the shared memory of readers and writer is room, too.
    fn is_full(&self) -> bool {
        match self {
            Fault::Refused(error) => *error == StoreError::Full,
            Fault::Sql(error) => {
                let extended = error.sqlite_error().map(|error| error.extended_code);
                self.code() == Some(ErrorCode::DiskFull)
                    || extended == Some(ffi::SQLITE_IOERR_SHMSIZE)
            }
        }
    }

    /// The file itself is not what `SQLite` wrote, or a column not what we wrote.
    pub(super) fn is_damage(&self) -> bool {
        match self {
            Fault::Refused(_) => false,
            Fault::Sql(
                Error::FromSqlConversionFailure(..)
                | Error::InvalidColumnType(..)
                | Error::IntegralValueOutOfRange(..),
            ) => true,
            Fault::Sql(_) => {
                matches!(self.code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
            }
        }
    }

    fn code(&self) -> Option<ErrorCode> {
        match self {
            Fault::Refused(_) => None,
            Fault::Sql(error) => error.sqlite_error_code(),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Refused(error) => error.fmt(f),
            Fault::Sql(error) => error.fmt(f),
        }
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Fault {
        Fault::Refused(error)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        Fault::Sql(error)
    }
}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> StoreError {
        if fault.is_full() {
            return StoreError::Full;
        }
        match fault {
            Fault::Refused(error) => error,
            Fault::Sql(error) => StoreError::Failed(error.to_string()),
        }
    }
}

pub(super) fn failed(detail: impl Into<String>) -> Fault {
    Fault::Refused(StoreError::Failed(detail.into()))
}

pub(super) fn damaged(session: SessionId, seq: u64, detail: impl Into<String>) -> Fault {
    Fault::Refused(StoreError::Damaged { session, seq, detail: detail.into() })
}
