//! Builds a profile's model: address, API key, certificates.

use std::path::Path;

use crate::model::{ApiKey, Model, ModelApi, ThoughtReplay};

use super::{Profile, ProfileError, invalid_profile};

impl Profile {
    pub(super) fn read_key_and_build_model(
        &self,
        name: &str,
        config_folder: &Path,
        variable: &impl Fn(&str) -> Option<String>,
    ) -> Result<Model, ProfileError> {
        let wire_name = self.wire.as_deref().unwrap_or("chat");
        let Some(wire) = ModelApi::ALL.into_iter().find(|wire| wire.as_str() == wire_name) else {
            let available = ModelApi::ALL.map(ModelApi::as_str).join(", ");
            return invalid_profile(format!(
                "`wire` is `{wire_name}`, but must be one of {available}"
            ));
        };
        Ok(Model {
            api: wire,
            base_url: self.base.clone().unwrap_or_else(|| default_base_url(wire).to_owned()),
            name: name.to_owned(),
            key: self.read_key_from_variable_or_file(config_folder, variable)?,
            max_tokens: self.max_tokens.unwrap_or(8192),
            thinking_tokens: self.thinking_tokens,
            thought_replay: if self.give_thoughts_back {
                ThoughtReplay::Resend
            } else {
                ThoughtReplay::Omit
            },
            extra_params: self.request.clone(),
        })
    }

    fn read_key_from_variable_or_file(
        &self,
        config_folder: &Path,
        variable: &impl Fn(&str) -> Option<String>,
    ) -> Result<Option<ApiKey>, ProfileError> {
        match (&self.key_variable, &self.key_file) {
            (None, None) => Ok(None),
            (Some(_), Some(_)) => {
                invalid_profile("set either `key_variable` or `key_file`, not both")
            }
            (Some(name), None) => match variable(name).filter(|key| !key.trim().is_empty()) {
                Some(key) => Ok(Some(ApiKey::new(key.trim()))),
                None => invalid_profile(format!("no API key: ${name} is not set")),
            },
            (None, Some(file)) => read_owner_only_key_file(&config_folder.join(file)).map(Some),
        }
    }

    pub(super) fn read_certificates(
        &self,
        config_folder: &Path,
    ) -> Result<Vec<reqwest::Certificate>, ProfileError> {
        let Some(file) = &self.authorities else { return Ok(Vec::new()) };
        let file = config_folder.join(file);
        let to_error = |error: &dyn std::fmt::Display| {
            ProfileError(format!("cannot use the certificates in {}: {error}", file.display()))
        };
        let text = std::fs::read(&file).map_err(|error| to_error(&error))?;
        match reqwest::Certificate::from_pem_bundle(&text) {
            Ok(found) if !found.is_empty() => Ok(found),
            Ok(_) => Err(to_error(&"it has none")),
            Err(error) => Err(to_error(&error)),
        }
    }
}

/// Default base URL of each API.
fn default_base_url(wire: ModelApi) -> &'static str {
    match wire {
        ModelApi::Chat | ModelApi::Responses => "https://api.openai.com/v1",
        ModelApi::Messages => "https://api.anthropic.com/v1",
        ModelApi::Gemini => "https://generativelanguage.googleapis.com/v1beta",
        ModelApi::Ollama => "http://127.0.0.1:11434",
    }
}

/// Reads a key from a file; fails if others can read the file.
fn read_owner_only_key_file(file: &Path) -> Result<ApiKey, ProfileError> {
    use std::os::unix::fs::PermissionsExt;
    let to_error =
        |error: std::io::Error| ProfileError(format!("cannot read {}: {error}", file.display()));
    let mode = std::fs::metadata(file).map_err(to_error)?.permissions().mode();
    if mode & 0o077 != 0 {
        return invalid_profile(format!(
            "{} is readable by others: run `chmod 600` on it and consider a new key",
            file.display()
        ));
    }
    let key = std::fs::read_to_string(file).map_err(to_error)?;
    if key.trim().is_empty() {
        return invalid_profile(format!("{} is empty", file.display()));
    }
    Ok(ApiKey::new(key.trim()))
}
