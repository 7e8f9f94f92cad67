//! Internal errors, before they become a `StoreError`.

use std::fmt;

use rusqlite::{Error, ErrorCode, ffi};

use crate::id::SessionId;
use crate::store::StoreError;

/// A store error, or an error of `SQLite`.
#[derive(Debug)]
pub(super) enum Fault {
    Store(StoreError),
    Sql(Error),
}

impl Fault {
    /// True if a disk operation failed, so that the content of the disk is unknown.
    pub(super) fn is_disk_failure(&self) -> bool {
        !self.is_disk_full() && self.sqlite_code() == Some(ErrorCode::SystemIoFailure)
    }

    /// True if the disk is full, also for the shared memory of readers and writer.
    fn is_disk_full(&self) -> bool {
        match self {
            Fault::Store(error) => *error == StoreError::Full,
            Fault::Sql(error) => {
                let extended = error.sqlite_error().map(|error| error.extended_code);
                self.sqlite_code() == Some(ErrorCode::DiskFull)
                    || extended == Some(ffi::SQLITE_IOERR_SHMSIZE)
            }
        }
    }

    /// True if the file is not what `SQLite` wrote, or a column has the wrong type.
    pub(super) fn is_corruption(&self) -> bool {
        match self {
            Fault::Store(_) => false,
            Fault::Sql(
                Error::FromSqlConversionFailure(..)
                | Error::InvalidColumnType(..)
                | Error::IntegralValueOutOfRange(..),
            ) => true,
            Fault::Sql(_) => {
                matches!(
                    self.sqlite_code(),
                    Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
                )
            }
        }
    }

    fn sqlite_code(&self) -> Option<ErrorCode> {
        match self {
            Fault::Store(_) => None,
            Fault::Sql(error) => error.sqlite_error_code(),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Store(error) => error.fmt(f),
            Fault::Sql(error) => error.fmt(f),
        }
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Fault {
        Fault::Store(error)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        Fault::Sql(error)
    }
}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> StoreError {
        if fault.is_disk_full() {
            return StoreError::Full;
        }
        match fault {
            Fault::Store(error) => error,
            Fault::Sql(error) => StoreError::Failed(error.to_string()),
        }
    }
}

pub(super) fn failed_fault(detail: impl Into<String>) -> Fault {
    Fault::Store(StoreError::Failed(detail.into()))
}

pub(super) fn damaged_fault(session: SessionId, seq: u64, detail: impl Into<String>) -> Fault {
    Fault::Store(StoreError::Damaged { session, seq, detail: detail.into() })
}
