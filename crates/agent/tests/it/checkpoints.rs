//! Checkpoints: saved before a tool changes the folder, and restored.

use millpond_agent::checkpoint::{CheckpointError, CheckpointStore};
use millpond_agent::policy::ToolPolicy;
use millpond_engine::event::Event;

use crate::test_gateway::{TestGateway, demo_config, sample_folder};

/// True if git is installed; prints what is skipped if it is not.
fn has_git() -> bool {
    let found = std::process::Command::new("git").arg("--version").output().is_ok();
    if !found {
        println!("skipped: checkpoints need git. To install: sudo apt-get install git");
    }
    found
}

fn checkpoint_hashes(events: &[Event<'static>]) -> Vec<String> {
    let hashes = events.iter().filter_map(|event| match event {
        Event::CheckpointSaved { hash } => Some(hash.to_string()),
        _ => None,
    });
    hashes.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn t4_each_change_can_be_undone_and_the_same_files_have_the_same_hash() {
    if !has_git() {
        return;
    }
    let (folder, data) = (sample_folder(), tempfile::tempdir().unwrap());
    let path = folder.path().canonicalize().unwrap();
    let mut config = demo_config(folder.path());
    config.policies.0.insert("*".to_owned(), ToolPolicy::Allow);
    let checkpoints = CheckpointStore::for_folder(data.path(), &path);
    config.checkpoints = Some(checkpoints.clone());
    let gateway = TestGateway::new(data.path(), config).await;

    let first = checkpoint_hashes(&gateway.send_and_wait_for_end("write one").await);
    assert_eq!(first.len(), 1);
    let second = checkpoint_hashes(&gateway.send_and_wait_for_end("write two").await);
    assert_ne!(first, second);
    assert_eq!(
        checkpoint_hashes(&gateway.send_and_wait_for_end("list").await),
        [""; 0],
        "reading changes nothing"
    );
    let third = checkpoint_hashes(&gateway.send_and_wait_for_end("compute 1+1").await);
    assert_eq!(
        checkpoint_hashes(&gateway.send_and_wait_for_end("compute 1+2").await),
        third,
        "nothing changed between"
    );

    let note = path.join("demo-note.txt");
    let diff = checkpoints.stage_files_and_preview_restore(&second[0]).await.unwrap();
    assert!(diff.contains("-two\n+one\n"), "{diff}");
    let saved_before = checkpoints.save_then_restore(&second[0]).await.unwrap();
    assert_eq!(saved_before, third[0]);
    assert_eq!(std::fs::read_to_string(&note).unwrap(), "one\n");
    checkpoints.save_then_restore(&first[0]).await.unwrap();
    assert!(!note.exists(), "a file that was not there goes");
    assert_eq!(std::fs::read_to_string(path.join("depth.txt")).unwrap(), "3 m\n");
    checkpoints.save_then_restore(&saved_before).await.unwrap();
    assert_eq!(std::fs::read_to_string(&note).unwrap(), "two\n");

    assert_eq!(checkpoints.list().await.unwrap().len(), 3);
    assert_eq!(checkpoints.find_hash_by_prefix(&first[0][..8]).await, Ok(first[0].clone()));
    let unknown = checkpoints.find_hash_by_prefix("0000").await;
    assert_eq!(unknown, Err(CheckpointError::Unknown("0000".to_owned())));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_of_the_folder_itself_is_left_alone() {
    if !has_git() {
        return;
    }
    let (folder, data) = (sample_folder(), tempfile::tempdir().unwrap());
    let git = |arguments: &[&str]| {
        let output = std::process::Command::new("git")
            .args(arguments)
            .current_dir(folder.path())
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    git(&["init", "-q"]);
    std::fs::write(folder.path().join(".gitignore"), "secret.txt\n").unwrap();
    std::fs::write(folder.path().join("secret.txt"), "hush").unwrap();
    let status = git(&["status", "--porcelain"]);
    let checkpoints = CheckpointStore::for_folder(data.path(), folder.path());
    let hash = checkpoints.save().await.unwrap();
    std::fs::write(folder.path().join("new.txt"), "new").unwrap();
    checkpoints.save_then_restore(&hash).await.unwrap();
    assert_eq!(git(&["status", "--porcelain"]), status);
    assert!(!folder.path().join("new.txt").exists());
    assert!(
        folder.path().join("secret.txt").exists(),
        "what is ignored is neither saved nor removed"
    );
}
