//! The committed schemas of the log and of the frames match the types.
#![cfg(feature = "schema")]

use std::path::Path;

use millpond_engine::event::Record;

/// Compares a schema with its committed file in `docs/`; `UPDATE=1` writes it.
#[track_caller]
fn check_committed(schema: &schemars::Schema, name: &str) {
    let generated = serde_json::to_string_pretty(schema).unwrap() + "\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &generated).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == generated, "docs/{name} is old: run the tests with UPDATE=1");
}

#[test]
fn the_committed_schema_of_the_log_is_the_generated_one() {
    check_committed(&schemars::schema_for!(Record<'static>), "events.schema.json");
}

#[test]
fn the_committed_schema_of_the_frames_is_the_generated_one() {
    check_committed(
        &millpond_engine::wire::schema::patch_format_frames_schema(),
        "frames.schema.json",
    );
}

#[test]
fn decoding_after_encoding_gives_the_same_record() {
    for file in crate::support::files_below(&crate::support::fixtures_dir()) {
        if file.extension().is_some_and(|extension| extension == "events") {
            for line in std::fs::read_to_string(&file).unwrap().lines() {
                let record: Record<'static> = serde_json::from_str(line).unwrap();
                assert_eq!(serde_json::to_string(&record).unwrap(), line, "{}", file.display());
            }
        }
    }
}
