//! The first credential of a gateway: in a file that only its user can read.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use gateway::access::{Caller, Secret};
use gateway::clock::{now_ms, random};
use gateway::gateway::Gateway;
use gateway::id::OwnerId;
use gateway::store::Vault;

pub(crate) fn token_file(folder: &Path) -> PathBuf {
    folder.join("token")
}

/// The token that this user's programs come in with.
pub(crate) fn read_token(folder: &Path) -> Option<Secret> {
    let text = std::fs::read_to_string(token_file(folder)).ok()?;
    Secret::shown(text.trim())
}

/// This user, and a link by which their browser comes in. At first start the user is made an owner.
pub(crate) async fn first_link(
    gateway: &Gateway,
    folder: &Path,
) -> Result<(OwnerId, String), String> {
    let known = match read_token(folder) {
        Some(token) => gateway.caller(&token).await.map_err(|error| error.to_string())?,
        None => None,
    };
    let owner = match known {
        Some(Caller::Owner { owner, .. }) => owner,
        _ => first_owner(gateway, folder).await?,
    };
    let code = gateway.links.issue(owner, std::time::Instant::now());
    let code = code.map_err(|error| error.to_string())?;
    Ok((owner, format!("/login?code={}", code.reveal())))
}

async fn first_owner(gateway: &Gateway, folder: &Path) -> Result<OwnerId, String> {
    // A token that was lost is replaced; what its owner has stays the owner's.
    let known = gateway.vault(Vault::owners).await.map_err(|error| error.to_string())?;
    let owner = match known.first() {
        Some(owner) => *owner,
        None => OwnerId::new(now_ms(), random().map_err(|error| error.to_string())?),
    };
    let issued = gateway.issue(owner, "first start").await;
    let (_, token) = issued.map_err(|error| error.to_string())?;
    let path = token_file(folder);
    write_privately(&path, token.reveal())
        .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    Ok(owner)
}

fn write_privately(path: &Path, text: &str) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    writeln!(file, "{text}")
}
