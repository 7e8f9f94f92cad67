//! Values of settings: their texts and their types.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use millpond_log::store::sqlite::Durability;

/// Allowed values of a setting, for error messages and the settings file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueShape {
    Text,
    Address,
    Number,
    /// A list of strings; comma-separated in a variable or flag.
    TextList,
    OneOf(&'static [&'static str]),
}

impl fmt::Display for ValueShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ValueShape::Text => f.write_str("a string"),
            ValueShape::Address => f.write_str("HOST:PORT"),
            ValueShape::Number => f.write_str("a whole number"),
            ValueShape::TextList => f.write_str("a list of strings"),
            ValueShape::OneOf(words) => write!(f, "one of {}", words.join(", ")),
        }
    }
}

/// Type of a setting's value.
pub(super) trait SettingValue: Sized {
    const SHAPE: ValueShape;

    /// Parses the form of an environment variable; `None` if it is invalid.
    fn parse(text: &str) -> Option<Self>;

    /// Renders the value as TOML.
    fn to_toml(&self) -> String;
}

/// Host and port to listen on; the host may be a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListenAddress {
    /// As in a URL: an IPv6 address has brackets.
    pub(crate) host: String,
    pub(crate) port: u16,
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

impl SettingValue for ListenAddress {
    const SHAPE: ValueShape = ValueShape::Address;

    fn parse(text: &str) -> Option<ListenAddress> {
        let (host, port) = text.rsplit_once(':').filter(|(host, _)| !host.is_empty())?;
        Some(ListenAddress { host: host.to_owned(), port: port.parse().ok()? })
    }

    fn to_toml(&self) -> String {
        format!("{:?}", self.to_string())
    }
}

impl SettingValue for Option<PathBuf> {
    const SHAPE: ValueShape = ValueShape::Text;

    fn parse(text: &str) -> Option<Option<PathBuf>> {
        Some((!text.is_empty()).then(|| PathBuf::from(text)))
    }

    fn to_toml(&self) -> String {
        let text = self.as_ref().map(|path| path.display().to_string());
        format!("{:?}", text.unwrap_or_default())
    }
}

impl SettingValue for Option<String> {
    const SHAPE: ValueShape = ValueShape::Text;

    fn parse(text: &str) -> Option<Option<String>> {
        Some((!text.is_empty()).then(|| text.to_owned()))
    }

    fn to_toml(&self) -> String {
        format!("{:?}", self.as_deref().unwrap_or_default())
    }
}

impl SettingValue for Vec<String> {
    const SHAPE: ValueShape = ValueShape::TextList;

    fn parse(text: &str) -> Option<Vec<String>> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        Some(parts.map(str::to_owned).collect())
    }

    fn to_toml(&self) -> String {
        format!("{self:?}")
    }
}

/// Parses `text` as one of `known`.
fn parse_word<T: Copy>(text: &str, known: &[(&str, T)]) -> Option<T> {
    known.iter().find(|(word, _)| *word == text).map(|(_, value)| *value)
}

impl SettingValue for Durability {
    const SHAPE: ValueShape = ValueShape::OneOf(&["window", "full"]);

    fn parse(text: &str) -> Option<Durability> {
        parse_word(text, &[("window", Durability::Window), ("full", Durability::Full)])
    }

    fn to_toml(&self) -> String {
        match self {
            Durability::Window => "\"window\"".to_owned(),
            Durability::Full => "\"full\"".to_owned(),
        }
    }
}

impl SettingValue for tracing::Level {
    const SHAPE: ValueShape = ValueShape::OneOf(&["error", "warn", "info", "debug"]);

    fn parse(text: &str) -> Option<tracing::Level> {
        let ValueShape::OneOf(words) = Self::SHAPE else { return None };
        words.contains(&text).then(|| tracing::Level::from_str(text).ok())?
    }

    fn to_toml(&self) -> String {
        format!("{:?}", self.as_str().to_ascii_lowercase())
    }
}

/// Format of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogFormat {
    Text,
    Json,
}

impl SettingValue for LogFormat {
    const SHAPE: ValueShape = ValueShape::OneOf(&["text", "json"]);

    fn parse(text: &str) -> Option<LogFormat> {
        parse_word(text, &[("text", LogFormat::Text), ("json", LogFormat::Json)])
    }

    fn to_toml(&self) -> String {
        match self {
            LogFormat::Text => "\"text\"".to_owned(),
            LogFormat::Json => "\"json\"".to_owned(),
        }
    }
}

/// Number of days; 0 means no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Days(pub(crate) u64);

impl Days {
    /// The duration; `None` without a limit.
    pub(crate) fn limit_as_duration(self) -> Option<Duration> {
        (0 < self.0).then(|| Duration::from_secs(self.0.saturating_mul(86_400)))
    }
}

impl SettingValue for Days {
    const SHAPE: ValueShape = ValueShape::Number;

    fn parse(text: &str) -> Option<Days> {
        text.parse().ok().map(Days)
    }

    fn to_toml(&self) -> String {
        self.0.to_string()
    }
}

/// Number of mebibytes; 0 means no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Megabytes(pub(crate) u64);

impl Megabytes {
    /// The size in bytes; `None` without a limit.
    pub(crate) fn limit_in_bytes(self) -> Option<u64> {
        (0 < self.0).then(|| self.0.saturating_mul(1 << 20))
    }
}

impl SettingValue for Megabytes {
    const SHAPE: ValueShape = ValueShape::Number;

    fn parse(text: &str) -> Option<Megabytes> {
        text.parse().ok().map(Megabytes)
    }

    fn to_toml(&self) -> String {
        self.0.to_string()
    }
}
