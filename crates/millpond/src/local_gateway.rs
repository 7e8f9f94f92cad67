//! The gateway that runs with a data folder: other processes of the same user find its URL in the
//! address file and their access token in the token file.

use std::path::{Path, PathBuf};

use millpond_client::GatewayClient;

use crate::serve::owner_token;

/// File with the URL of the gateway that holds the data folder.
pub(crate) fn address_file_path(folder: &Path) -> PathBuf {
    folder.join("address")
}

/// Gateway to connect to. Missing parts are those of the gateway that runs with the data folder.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GatewayTarget<'a> {
    pub(crate) folder: &'a Path,
    pub(crate) url: Option<&'a str>,
    pub(crate) token: Option<&'a str>,
}

impl GatewayTarget<'_> {
    /// Builds a client; reads the token file and the address file if needed.
    pub(crate) fn resolve_and_build_client(self) -> Result<GatewayClient, String> {
        let token = match self.token {
            Some(token) => token.to_owned(),
            None => read_token_file(self.folder)?,
        };
        let url = match self.url {
            Some(url) => url.to_owned(),
            None => read_address_file(self.folder)?,
        };
        GatewayClient::new(&url, &token).map_err(|error| error.to_string())
    }
}

/// Reads the access token of this user.
pub(crate) fn read_token_file(folder: &Path) -> Result<String, String> {
    let token = owner_token::read_token_file_if_valid(folder);
    token.map(|token| token.reveal().to_owned()).ok_or_else(|| {
        format!(
            "no token in {}: run `millpond serve` with this data folder first",
            folder.display()
        )
    })
}

/// Reads the URL of the gateway that holds the data folder.
fn read_address_file(folder: &Path) -> Result<String, String> {
    let address = std::fs::read_to_string(address_file_path(folder)).map_err(|error| {
        let folder = folder.display();
        format!("no gateway runs with {folder} ({error}): run `millpond serve` first")
    })?;
    Ok(address.trim().to_owned())
}
