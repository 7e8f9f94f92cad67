//! The owner's access token, in a file that only this user can read, and the login link of the
//! first start.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use millpond_gateway::access::{Caller, Secret};
use millpond_gateway::gateway::Gateway;
use millpond_log::clock::{now_ms, random_bytes};
use millpond_log::id::OwnerId;
use millpond_log::store::CredentialStore;

/// Path of the token file in the data folder.
pub(crate) fn token_file_path(folder: &Path) -> PathBuf {
    folder.join("token")
}

/// Reads the access token of this user's programs.
pub(crate) fn read_token_file_if_valid(folder: &Path) -> Option<Secret> {
    let text = std::fs::read_to_string(token_file_path(folder)).ok()?;
    Secret::parse(text.trim())
}

/// Returns the owner and a path that signs a browser in. Creates the owner's token if the token
/// file has no valid one.
pub(crate) async fn ensure_owner_token_and_issue_login(
    gateway: &Gateway,
    folder: &Path,
) -> Result<(OwnerId, String), String> {
    let known = match read_token_file_if_valid(folder) {
        Some(token) => gateway.authenticate(&token).await.map_err(|error| error.to_string())?,
        None => None,
    };
    let owner = match known {
        Some(Caller::Owner { owner, .. }) => owner,
        _ => issue_and_write_owner_token(gateway, folder).await?,
    };
    let code = gateway.login_links.issue(owner, std::time::Instant::now());
    let code = code.map_err(|error| error.to_string())?;
    Ok((owner, format!("/login?code={}", code.reveal())))
}

/// Issues a token to the existing owner, or to a new one, and writes it to the token file.
async fn issue_and_write_owner_token(gateway: &Gateway, folder: &Path) -> Result<OwnerId, String> {
    // A lost token is replaced; the owner keeps its sessions.
    let known = gateway
        .call_credential_store(CredentialStore::list_token_owners_even_revoked)
        .await
        .map_err(|error| error.to_string())?;
    let owner = match known.first() {
        Some(owner) => *owner,
        None => OwnerId::new(now_ms(), random_bytes().map_err(|error| error.to_string())?),
    };
    let issued = gateway.issue_token(owner, "first start").await;
    let (_, token) = issued.map_err(|error| error.to_string())?;
    let path = token_file_path(folder);
    write_private_file(&path, token.reveal())
        .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    Ok(owner)
}

/// Writes a file with mode 0600.
fn write_private_file(path: &Path, text: &str) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    writeln!(file, "{text}")
}
