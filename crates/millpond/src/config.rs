//! What is in force, and where each value came from: flags over environment over `millpond.toml`
//! over defaults.
//!
//! One table lists every setting; nothing is read anywhere else.

use std::fmt;
use std::path::{Path, PathBuf};

use agent::profile::Profile;
use toml::Value;

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Default,
    File(PathBuf),
    Environment(&'static str),
    Flag,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::File(path) => write!(f, "{}", path.display()),
            Origin::Environment(name) => write!(f, "${name}"),
            Origin::Flag => f.write_str("flag"),
        }
    }
}

/// What a setting may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Text,
    Number,
    /// In a variable or flag, separated by commas.
    Texts,
    OneOf(&'static [&'static str]),
}

/// A setting: its key in the file, its variable, what it may be, what it is for.
#[derive(Debug)]
pub(crate) struct Setting {
    pub(crate) key: &'static str,
    pub(crate) variable: &'static str,
    shape: Shape,
    default: &'static str,
    pub(crate) about: &'static str,
}

macro_rules! settings {
    ($($key:literal $variable:literal $shape:expr, $default:literal, $about:literal;)+) => {
        pub(crate) const SETTINGS: &[Setting] = &[$(Setting {
            key: $key, variable: $variable, shape: $shape, default: $default, about: $about,
        },)+];
    };
}

settings! {
    "listen" "MILLPOND_LISTEN" Shape::Text, "127.0.0.1:8181", "address and port to listen on";
    "data" "MILLPOND_DATA" Shape::Text, "", "folder of the log; the platform's data folder if empty";
    "hosts" "MILLPOND_HOSTS" Shape::Texts, "", "more host names by which the gateway may be called";
    "origins" "MILLPOND_ORIGINS" Shape::Texts, "", "more sites whose pages may use the gateway";
    "certificate" "MILLPOND_CERTIFICATE" Shape::Text, "", "PEM file of the TLS certificate";
    "key" "MILLPOND_KEY" Shape::Text, "", "PEM file of the TLS key";
    "durability" "MILLPOND_DURABILITY" Shape::OneOf(&["window", "full"]), "window",
        "window: a power loss costs at most 10 ms; full: nothing, and commits are slower";
    "keep_days" "MILLPOND_KEEP_DAYS" Shape::Number, "0", "days after which a session is removed; 0 keeps it";
    "keep_megabytes" "MILLPOND_KEEP_MEGABYTES" Shape::Number, "0",
        "size at which the oldest sessions are removed; 0 keeps them";
    "profile" "MILLPOND_PROFILE" Shape::Text, "",
        "which of [profiles.NAME] works on messages; the only one if empty, else the demo";
    "log" "MILLPOND_LOG" Shape::OneOf(&["error", "warn", "info", "debug"]), "info",
        "how much the gateway says on standard error";
    "log_format" "MILLPOND_LOG_FORMAT" Shape::OneOf(&["text", "json"]), "text",
        "text: for people; json: one object per line";
}

/// Why the configuration cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BadConfig(String);

impl fmt::Display for BadConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The key under which profiles stand, each a table of its own.
const PROFILES: &str = "profiles";

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Config {
    /// Every setting with its value, in the order of the table.
    values: Vec<(String, Origin)>,
    profiles: toml::Table,
    file: Option<PathBuf>,
}

impl Config {
    /// Puts flags (by key), environment and file together.
    pub(crate) fn load(
        file: Option<&Path>,
        flags: &[(&str, String)],
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<Config, BadConfig> {
        let mut table = file.map(read).transpose()?.unwrap_or_default();
        let profiles = match table.remove(PROFILES) {
            None => toml::Table::new(),
            Some(Value::Table(profiles)) => profiles,
            Some(_) => {
                return Err(BadConfig("`profiles` holds tables: [profiles.NAME]".to_owned()));
            }
        };
        if let Some(key) = table.keys().find(|key| position(key).is_none()) {
            return Err(unknown(key, file));
        }
        let value = |setting: &Setting| {
            if let Some((_, value)) = flags.iter().find(|(key, _)| *key == setting.key) {
                return Ok((value.clone(), Origin::Flag));
            }
            if let Some(value) = environment(setting.variable) {
                return Ok((value, Origin::Environment(setting.variable)));
            }
            match (table.get(setting.key), file) {
                (Some(value), Some(file)) => {
                    Ok((plain(setting, value)?, Origin::File(file.to_owned())))
                }
                _ => Ok((setting.default.to_owned(), Origin::Default)),
            }
        };
        let mut values = Vec::with_capacity(SETTINGS.len());
        for setting in SETTINGS {
            let (text, origin) = value(setting)?;
            check(setting, &text, &origin)?;
            values.push((text, origin));
        }
        Ok(Config { values, profiles, file: file.map(Path::to_owned) })
    }

    /// The profile that works on messages, with its name; nothing if none is written down.
    pub(crate) fn profile(&self) -> Result<Option<(String, Profile)>, BadConfig> {
        let mut names = self.profiles.keys();
        let name = match (self.text("profile"), names.next(), names.next()) {
            ("", Some(only), None) => only,
            ("", None, _) => return Ok(None),
            ("", Some(_), Some(_)) => {
                let all = self.profiles.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
                let words = format!("there are several profiles ({all}): say which with `profile`");
                return Err(BadConfig(words));
            }
            (name, ..) => name,
        };
        Ok(Some((name.to_owned(), self.profile_named(name)?)))
    }

    /// Names of all profiles, each with whoever answers there as far as it can be read.
    pub(crate) fn profile_titles(&self) -> Vec<(String, String)> {
        let title = |name: &String| match self.profile_named(name) {
            Ok(profile) => profile.title(),
            Err(problem) => problem.to_string(),
        };
        self.profiles.keys().map(|name| (name.clone(), title(name))).collect()
    }

    pub(crate) fn profile_named(&self, name: &str) -> Result<Profile, BadConfig> {
        let Some(table) = self.profiles.get(name) else {
            let nearest = nearest(name, self.profiles.keys().map(String::as_str));
            let hint = nearest.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            return Err(BadConfig(format!("there is no profile `{name}`{hint}")));
        };
        table.clone().try_into().map_err(|error: toml::de::Error| {
            BadConfig(format!("[profiles.{name}]: {}", error.message().trim()))
        })
    }

    /// The folder to which paths in the file are relative.
    pub(crate) fn beside(&self) -> &Path {
        self.file.as_deref().and_then(Path::parent).unwrap_or(Path::new(""))
    }

    pub(crate) fn text(&self, key: &str) -> &str {
        position(key).map_or("", |at| &self.values[at].0)
    }

    /// Whether nobody has said what it shall be.
    pub(crate) fn is_default(&self, key: &str) -> bool {
        position(key).is_none_or(|at| matches!(self.values[at].1, Origin::Default))
    }

    pub(crate) fn number(&self, key: &str) -> u64 {
        self.text(key).parse().unwrap_or(0)
    }

    pub(crate) fn texts(&self, key: &str) -> Vec<String> {
        let parts = self.text(key).split(',').map(str::trim);
        parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
    }

    /// All that is in force, one line each, with where it came from.
    pub(crate) fn table(&self) -> String {
        let mut table = String::new();
        for (setting, (value, origin)) in SETTINGS.iter().zip(&self.values) {
            let value = match setting.shape {
                Shape::Number => value.clone(),
                Shape::Texts => format!("{:?}", self.texts(setting.key)),
                Shape::Text | Shape::OneOf(_) => format!("{value:?}"),
            };
            let line = format!("{} = {value}", setting.key);
            table.extend([&*format!("{line:<32} # {origin}: "), setting.about, "\n"]);
        }
        table
    }
}

fn position(key: &str) -> Option<usize> {
    SETTINGS.iter().position(|setting| setting.key == key)
}

fn read(file: &Path) -> Result<toml::Table, BadConfig> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| BadConfig(format!("cannot read {}: {error}", file.display())))?;
    text.parse().map_err(|error: toml::de::Error| {
        let error = error.to_string();
        BadConfig(format!("{} is no TOML: {}", file.display(), error.trim().replace('\n', " ")))
    })
}

fn unknown(key: &str, file: Option<&Path>) -> BadConfig {
    let place = file.map(|file| file.display().to_string()).unwrap_or_default();
    BadConfig(match nearest(key, SETTINGS.iter().map(|setting| setting.key)) {
        Some(near) => format!("{place}: there is no setting `{key}`; did you mean `{near}`?"),
        None => format!("{place}: there is no setting `{key}`; `millpond config` lists them"),
    })
}

/// The name that was probably meant.
fn nearest<'n>(given: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let distances = names.map(|name| (strsim::damerau_levenshtein(given, name), name));
    distances.min().filter(|(distance, _)| *distance <= 3).map(|(_, name)| name)
}

/// A value of the file as it would stand in a variable.
fn plain(setting: &Setting, value: &Value) -> Result<String, BadConfig> {
    let wrong = || BadConfig(format!("`{}` is {}", setting.key, wanted(setting.shape)));
    match (setting.shape, value) {
        (Shape::Text | Shape::OneOf(_), Value::String(text)) => Ok(text.clone()),
        (Shape::Number, Value::Integer(number)) => Ok(number.to_string()),
        (Shape::Texts, Value::Array(texts)) => {
            let texts: Option<Vec<&str>> = texts.iter().map(Value::as_str).collect();
            texts.map(|texts| texts.join(",")).ok_or_else(wrong)
        }
        _ => Err(wrong()),
    }
}

fn wanted(shape: Shape) -> String {
    match shape {
        Shape::Text => "a text".to_owned(),
        Shape::Number => "a whole number".to_owned(),
        Shape::Texts => "a list of texts".to_owned(),
        Shape::OneOf(words) => format!("one of {}", words.join(", ")),
    }
}

fn check(setting: &Setting, text: &str, origin: &Origin) -> Result<(), BadConfig> {
    let fits = match setting.shape {
        Shape::Text | Shape::Texts => true,
        Shape::Number => text.parse::<u64>().is_ok(),
        Shape::OneOf(words) => words.contains(&text),
    };
    if fits {
        return Ok(());
    }
    let wanted = wanted(setting.shape);
    Err(BadConfig(format!("`{}` ({origin}) is `{text}`, but must be {wanted}", setting.key)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(
        file: Option<&str>,
        flags: &[(&str, String)],
        set: &[(&str, &str)],
    ) -> Result<Config, String> {
        let dir = tempfile::tempdir().map_err(|error| error.to_string())?;
        let path = dir.path().join("millpond.toml");
        if let Some(text) = file {
            std::fs::write(&path, text).map_err(|error| error.to_string())?;
        }
        let environment = |name: &str| {
            set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        Config::load(file.map(|_| &*path), flags, environment).map_err(|error| error.to_string())
    }

    #[test]
    fn flags_win_over_variables_over_the_file_over_defaults() {
        let file = Some("listen = \"a:1\"\nkeep_days = 7\nhosts = [\"x\", \"y\"]\ndata = \"/f\"\n");
        let variables = [("MILLPOND_LISTEN", "b:2"), ("MILLPOND_DATA", "/e")];
        let config = load(file, &[("listen", "c:3".to_owned())], &variables)
            .unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(config.text("listen"), "c:3");
        assert_eq!(config.text("data"), "/e");
        assert_eq!(config.number("keep_days"), 7);
        assert_eq!(config.texts("hosts"), ["x", "y"]);
        assert_eq!(config.text("durability"), "window");
        let table = config.table();
        for part in ["\"c:3\"", "# flag", "# $MILLPOND_DATA", "millpond.toml: days", "# default"] {
            assert!(table.contains(part), "{part} in\n{table}");
        }
    }

    #[test]
    fn an_unknown_key_names_the_nearest_one() {
        let problem = load(Some("lisen = \"a:1\"\n"), &[], &[]).err().unwrap_or_default();
        assert!(
            problem.ends_with("there is no setting `lisen`; did you mean `listen`?"),
            "{problem}"
        );
        let problem = load(Some("something_else = 1\n"), &[], &[]).err().unwrap_or_default();
        assert!(problem.contains("`millpond config` lists them"), "{problem}");
    }

    #[test]
    fn a_wrong_value_says_what_is_wanted_and_where_it_stood() {
        for (file, set, part) in [
            (Some("keep_days = \"x\"\n"), vec![], "`keep_days` is a whole number"),
            (Some("hosts = [1]\n"), vec![], "`hosts` is a list of texts"),
            (Some("durability = \"maybe\"\n"), vec![], "must be one of window, full"),
            (Some("listen = [\n"), vec![], "is no TOML"),
            (None, vec![("MILLPOND_KEEP_DAYS", "-1")], "`keep_days` ($MILLPOND_KEEP_DAYS) is `-1`"),
        ] {
            let problem = load(file, &[], &set).err().unwrap_or_default();
            assert!(problem.contains(part), "{part} in {problem}");
        }
    }
}
