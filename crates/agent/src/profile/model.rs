//! What a profile says of a model: where it is, and what opens it.

use std::path::Path;

use crate::model::{Key, Model, Thoughts, Wire};

use super::{BadProfile, Profile, bad};

impl Profile {
    pub(super) fn model(
        &self,
        name: &str,
        beside: &Path,
        variable: &impl Fn(&str) -> Option<String>,
    ) -> Result<Model, BadProfile> {
        let word = self.wire.as_deref().unwrap_or("chat");
        let Some(wire) = Wire::ALL.into_iter().find(|wire| wire.as_str() == word) else {
            let all = Wire::ALL.map(Wire::as_str).join(", ");
            return bad(format!("`wire` is `{word}`, but must be one of {all}"));
        };
        Ok(Model {
            wire,
            base: self.base.clone().unwrap_or_else(|| usual_base(wire).to_owned()),
            name: name.to_owned(),
            key: self.key(beside, variable)?,
            max_tokens: self.max_tokens.unwrap_or(8192),
            thinking_tokens: self.thinking_tokens,
            thoughts: if self.give_thoughts_back { Thoughts::GiveBack } else { Thoughts::Drop },
            extra: self.request.clone(),
        })
    }

    fn key(
        &self,
        beside: &Path,
        variable: &impl Fn(&str) -> Option<String>,
    ) -> Result<Option<Key>, BadProfile> {
        match (&self.key_variable, &self.key_file) {
            (None, None) => Ok(None),
            (Some(_), Some(_)) => bad("`key_variable` and `key_file`: one is enough"),
            (Some(name), None) => match variable(name).filter(|key| !key.trim().is_empty()) {
                Some(key) => Ok(Some(Key::new(key.trim()))),
                None => bad(format!("the key should be in ${name}, which is not set")),
            },
            (None, Some(file)) => read_key(&beside.join(file)).map(Some),
        }
    }

    pub(super) fn authorities(
        &self,
        beside: &Path,
    ) -> Result<Vec<reqwest::Certificate>, BadProfile> {
        let Some(file) = &self.authorities else { return Ok(Vec::new()) };
        let file = beside.join(file);
        let wrong = |error: &dyn std::fmt::Display| {
            BadProfile(format!("cannot use the certificates in {}: {error}", file.display()))
        };
        let text = std::fs::read(&file).map_err(|error| wrong(&error))?;
        match reqwest::Certificate::from_pem_bundle(&text) {
            Ok(found) if !found.is_empty() => Ok(found),
            Ok(_) => Err(wrong(&"there are none")),
            Err(error) => Err(wrong(&error)),
        }
    }
}

/// Where the provider of each protocol is.
fn usual_base(wire: Wire) -> &'static str {
    match wire {
        Wire::Chat | Wire::Responses => "https://api.openai.com/v1",
        Wire::Messages => "https://api.anthropic.com/v1",
        Wire::Gemini => "https://generativelanguage.googleapis.com/v1beta",
        Wire::Ollama => "http://127.0.0.1:11434",
    }
}

/// A key from a file that only its owner can read.
fn read_key(file: &Path) -> Result<Key, BadProfile> {
    use std::os::unix::fs::PermissionsExt;
    let wrong =
        |error: std::io::Error| BadProfile(format!("cannot read {}: {error}", file.display()));
    let mode = std::fs::metadata(file).map_err(wrong)?.permissions().mode();
    if mode & 0o077 != 0 {
        return bad(format!(
            "{} can be read by others: `chmod 600` it, and think about a new key",
            file.display()
        ));
    }
    let key = std::fs::read_to_string(file).map_err(wrong)?;
    if key.trim().is_empty() {
        return bad(format!("{} is empty", file.display()));
    }
    Ok(Key::new(key.trim()))
}
