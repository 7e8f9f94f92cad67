//! Ids, sessions and records for tests of the log and of the gateway, which includes this file.
#![allow(clippy::unwrap_used, dead_code, reason = "a test may fail, and does not use everything")]

use std::borrow::Cow;
use std::path::PathBuf;
use std::process::Command;

use millpond_engine::event::{Event, Record};
use millpond_log::id::{OwnerId, QueuedId, RunId, SessionId};
use millpond_log::store::Session;

pub(crate) fn owner(n: u8) -> OwnerId {
    OwnerId::new(1, [n; 10])
}

pub(crate) fn session_id(n: u8) -> SessionId {
    SessionId::new(u64::from(n), [n; 10])
}

pub(crate) fn run_id(n: u8) -> RunId {
    RunId::new(u64::from(n), [n; 10])
}

pub(crate) fn queued_id(n: u8) -> QueuedId {
    QueuedId::new(u64::from(n), [n; 10])
}

pub(crate) fn session(n: u8) -> Session {
    Session {
        id: session_id(n),
        owner: owner(1),
        title: format!("Session {n}"),
        created_ms: u64::from(n),
        changed_ms: u64::from(n),
        head: 0,
        pinned: false,
        archived: false,
        deleted_ms: None,
        parent: None,
    }
}

pub(crate) fn line(seq: u64, run: RunId, event: Event<'_>) -> String {
    let record = Record { seq, at_ms: Some(seq), run: Cow::Owned(run.to_string()), event };
    let mut line = serde_json::to_string(&record).unwrap();
    line.push('\n');
    line
}

/// A small file system, unmounted when dropped.
pub(crate) struct Mounted(pub(crate) PathBuf);

impl Mounted {
    pub(crate) fn new(at: PathBuf, size: &str) -> Option<Mounted> {
        std::fs::create_dir(&at).ok()?;
        let size = format!("size={size}");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(&at);
        let mounted = mount.output().is_ok_and(|output| output.status.success());
        mounted.then_some(Mounted(at))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).output();
    }
}
