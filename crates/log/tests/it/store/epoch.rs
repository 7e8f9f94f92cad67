//! A new epoch begins when the log may have lost its newest records.

use super::*;

/// Copies the files as they are now, as a crash would leave them.
fn copy_files(test_store: &TestStore) -> TempDir {
    let image = temp_dir();
    for name in ["millpond.db", "millpond.db-wal"] {
        let source = test_store.dir.path().join(name);
        if source.exists() {
            std::fs::copy(source, image.path().join(name)).unwrap();
        }
    }
    image
}

fn open_on_boot(dir: &TempDir, boot: Option<&str>) -> SqliteStore {
    let options =
        StoreOptions { boot_id: boot.map(str::to_owned), ..options_without_background_work() };
    SqliteStore::open_or_create_with_options(dir.path(), options).unwrap()
}

fn crashed_store() -> (TempDir, u32) {
    let test_store = open_with_sessions(1);
    test_store.store.append(&[batch(1, 1, 0, 3)]).unwrap();
    (copy_files(&test_store), test_store.store.epoch())
}

#[test]
fn a_crash_of_the_process_keeps_the_epoch_and_the_log() {
    let (image, epoch) = crashed_store();
    let store = open_on_boot(&image, Some("boot"));
    assert_eq!((store.epoch(), read_lines(&store, 1).len()), (epoch, 3));
}

#[test]
fn a_crash_of_the_machine_begins_a_new_epoch() {
    let (image, epoch) = crashed_store();
    assert_eq!(open_on_boot(&image, Some("another boot")).epoch(), epoch + 1);
}

#[test]
fn where_nobody_knows_the_boot_every_unclean_stop_begins_a_new_epoch() {
    let (image, epoch) = crashed_store();
    assert_eq!(open_on_boot(&image, None).epoch(), epoch + 1);
}

#[test]
fn a_clean_stop_keeps_the_epoch_across_boots() {
    let (image, epoch) = crashed_store();
    for boot in [Some("boot"), Some("another boot"), None, Some("a third")] {
        assert_eq!(open_on_boot(&image, boot).epoch(), epoch, "{boot:?}");
    }
}

#[test]
fn a_second_crash_after_a_crash_counts_again() {
    let (image, epoch) = crashed_store();
    let store = open_on_boot(&image, Some("second"));
    let test_store = TestStore { store, dir: image };
    let image = copy_files(&test_store);
    assert_eq!(open_on_boot(&image, Some("third")).epoch(), epoch + 2);
}
