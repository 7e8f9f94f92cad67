//! `millpond login`: requests a login link from the running gateway and prints it.

use std::process::ExitCode;

use millpond_client::RequestError;

use crate::args::LoginArgs;
use crate::command::{block_on, print_error_and_return_failure};
use crate::local_gateway::GatewayTarget;

/// Runs `millpond login`.
pub(crate) fn run(args: &LoginArgs) -> ExitCode {
    match block_on(request_login_link(args)) {
        Ok(link) => crate::print_to_stdout(format!("{link}\n").as_bytes()),
        Err(problem) => print_error_and_return_failure(&problem),
    }
}

/// Requests a login link and returns its full URL.
async fn request_login_link(args: &LoginArgs) -> Result<String, String> {
    let folder = args.config.load_settings()?.data_folder()?;
    let client =
        GatewayTarget { folder: &folder, url: None, token: None }.resolve_and_build_client()?;
    client.create_login_link().await.map_err(|error| match error {
        RequestError::Unreachable(cause) => {
            format!("cannot reach the gateway at {}: {cause}", client.base_url())
        }
        refused => refused.to_string(),
    })
}
