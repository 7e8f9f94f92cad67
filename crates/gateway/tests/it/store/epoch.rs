//! An epoch ends when the log may have lost its end.

use super::*;

/// The files as they are at this moment: what a crash would leave.
fn crash_image(kept: &Kept) -> TempDir {
    let image = dir();
    for name in ["millpond.db", "millpond.db-wal"] {
        let from = kept.dir.path().join(name);
        if from.exists() {
            std::fs::copy(from, image.path().join(name)).unwrap();
        }
    }
    image
}

fn open_at(dir: &TempDir, boot: Option<&str>) -> SqliteStore {
    let options = Options { boot: boot.map(str::to_owned), ..quiet() };
    SqliteStore::open_with(dir.path(), options).unwrap()
}

fn crashed() -> (TempDir, u32) {
    let kept = open_with_sessions(1);
    kept.store.append(&[batch(1, 1, 0, 3)]).unwrap();
    (crash_image(&kept), kept.store.epoch())
}

#[test]
fn a_crash_of_the_process_keeps_the_epoch_and_the_log() {
    let (image, epoch) = crashed();
    let store = open_at(&image, Some("boot"));
    assert_eq!((store.epoch(), lines(&store, 1).len()), (epoch, 3));
}

#[test]
fn a_crash_of_the_machine_begins_a_new_epoch() {
    let (image, epoch) = crashed();
    assert_eq!(open_at(&image, Some("another boot")).epoch(), epoch + 1);
}

#[test]
fn where_nobody_knows_the_boot_every_unclean_stop_begins_a_new_epoch() {
    let (image, epoch) = crashed();
    assert_eq!(open_at(&image, None).epoch(), epoch + 1);
}

#[test]
fn a_clean_stop_keeps_the_epoch_across_boots() {
    let (image, epoch) = crashed();
    for boot in [Some("boot"), Some("another boot"), None, Some("a third")] {
        assert_eq!(open_at(&image, boot).epoch(), epoch, "{boot:?}");
    }
}

#[test]
fn a_second_crash_after_a_crash_counts_again() {
    let (image, epoch) = crashed();
    let store = open_at(&image, Some("second"));
    let kept = Kept { store, dir: image };
    let image = crash_image(&kept);
    assert_eq!(open_at(&image, Some("third")).epoch(), epoch + 2);
}
