//! The settings: typed values with their sources. Flags override environment variables, which
//! override `millpond.toml`, which overrides defaults.
//!
//! Invariant: every value is parsed once, here; the rest of the program reads fields.

mod value;

use std::fmt;
use std::path::{Path, PathBuf};

use millpond_agent::profile::Profile;
use millpond_engine::run::find_similar_name;
use millpond_log::store::sqlite::{Durability, Retention};
use toml::Value;

pub(crate) use value::{Days, ListenAddress, LogFormat, Megabytes};
use value::{SettingValue, ValueShape};

/// Source of a setting's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SettingSource {
    Default,
    File(PathBuf),
    Environment(&'static str),
    Flag,
}

impl fmt::Display for SettingSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingSource::Default => f.write_str("default"),
            SettingSource::File(path) => write!(f, "{}", path.display()),
            SettingSource::Environment(name) => write!(f, "${name}"),
            SettingSource::Flag => f.write_str("flag"),
        }
    }
}

/// Value of a setting and its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sourced<T> {
    pub(crate) value: T,
    pub(crate) source: SettingSource,
}

macro_rules! settings {
    ($($field:ident: $type:ty, $variable:literal, $default:literal, $about:literal;)+) => {
        /// The settings in use, and the profiles of the settings file.
        #[derive(Clone, Debug, PartialEq)]
        pub(crate) struct Settings {
            $(#[doc = $about] pub(crate) $field: Sourced<$type>,)+
            profiles: toml::Table,
            file: Option<PathBuf>,
        }

        /// Settings given as flags, in the form of an environment variable.
        #[derive(Clone, Debug, Default)]
        pub(crate) struct SettingFlags {
            $(pub(crate) $field: Option<String>,)+
        }

        /// Keys of the settings file.
        const KEYS: &[&str] = &[$(stringify!($field)),+];

        impl Settings {
            /// Resolves every setting from the flags, the environment and the file.
            pub(crate) fn load(
                file: Option<&Path>,
                flags: &SettingFlags,
                environment: impl Fn(&str) -> Option<String>,
            ) -> Result<Settings, BadSettings> {
                let (table, profiles) = read_settings_and_profiles(file)?;
                $(let $field = {
                    let given = SettingInputs {
                        flag: flags.$field.clone(),
                        variable: environment($variable),
                        in_file: file.zip(table.get(stringify!($field))),
                    };
                    given.parse_by_precedence(stringify!($field), $variable, $default)?
                };)+
                let settings = Settings { $($field,)+ profiles, file: file.map(Path::to_owned) };
                settings.check_tls_settings_paired()?;
                Ok(settings)
            }

            /// Renders every setting as a TOML line with a comment: its source and description.
            pub(crate) fn render_table(&self) -> String {
                let mut table = String::new();
                $(push_setting_line(&mut table, stringify!($field), &self.$field, $about);)+
                table
            }
        }
    };
}

settings! {
    listen: ListenAddress, "MILLPOND_LISTEN", "127.0.0.1:8181", "address and port to listen on";
    data: Option<PathBuf>, "MILLPOND_DATA", "",
        "data folder with the log; empty: the platform's data folder";
    hosts: Vec<String>, "MILLPOND_HOSTS", "", "additional host names to accept";
    origins: Vec<String>, "MILLPOND_ORIGINS", "",
        "additional origins whose pages may use the gateway";
    certificate: Option<PathBuf>, "MILLPOND_CERTIFICATE", "", "TLS certificate chain (PEM file)";
    key: Option<PathBuf>, "MILLPOND_KEY", "", "TLS private key (PEM file)";
    durability: Durability, "MILLPOND_DURABILITY", "window",
        "window: a power loss loses at most 10 ms; full: nothing, but commits are slower";
    keep_days: Days, "MILLPOND_KEEP_DAYS", "0",
        "days after which a session is deleted; 0: never";
    keep_megabytes: Megabytes, "MILLPOND_KEEP_MEGABYTES", "0",
        "log size at which the oldest sessions are deleted; 0: unlimited";
    profile: Option<String>, "MILLPOND_PROFILE", "",
        "the [profiles.NAME] that answers messages; empty: the only one, or the built-in demo";
    log: tracing::Level, "MILLPOND_LOG", "info", "log level on standard error";
    log_format: LogFormat, "MILLPOND_LOG_FORMAT", "text", "text, or json: one object per line";
}

/// Error message of invalid settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BadSettings(String);

impl fmt::Display for BadSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Files of a TLS server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TlsFiles<'a> {
    pub(crate) certificate: &'a Path,
    pub(crate) key: &'a Path,
}

impl Settings {
    /// Data folder: as set, else the platform's data folder.
    pub(crate) fn data_folder(&self) -> Result<PathBuf, String> {
        match &self.data.value {
            Some(folder) => Ok(folder.clone()),
            None => directories::ProjectDirs::from("", "", "millpond")
                .map(|folders| folders.data_dir().to_owned())
                .ok_or_else(|| "no home folder found: set the data folder with --data".to_owned()),
        }
    }

    /// Renders every setting, after a comment with the data folder that is used.
    pub(crate) fn render_with_data_folder(&self) -> String {
        let folder = match self.data_folder() {
            Ok(folder) => folder.display().to_string(),
            Err(problem) => problem,
        };
        format!("# Data folder: {folder}\n{}", self.render_table())
    }

    /// Certificate and key; `None` if connections are not encrypted.
    pub(crate) fn tls_files(&self) -> Option<TlsFiles<'_>> {
        let certificate = self.certificate.value.as_deref()?;
        Some(TlsFiles { certificate, key: self.key.value.as_deref()? })
    }

    /// Age and size limits of the log.
    pub(crate) fn retention(&self) -> Retention {
        Retention {
            max_age: self.keep_days.value.limit_as_duration(),
            max_bytes: self.keep_megabytes.value.limit_in_bytes(),
        }
    }

    fn check_tls_settings_paired(&self) -> Result<(), BadSettings> {
        match (&self.certificate.value, &self.key.value) {
            (Some(_), None) => Err(BadSettings("`certificate` needs `key`".to_owned())),
            (None, Some(_)) => Err(BadSettings("`key` needs `certificate`".to_owned())),
            (Some(_), Some(_)) | (None, None) => Ok(()),
        }
    }

    /// Name and profile that answers messages; `None` if the file has no profiles.
    pub(crate) fn active_profile(&self) -> Result<Option<(String, Profile)>, BadSettings> {
        let mut names = self.profiles.keys();
        let name = match (&self.profile.value, names.next(), names.next()) {
            (Some(name), ..) | (None, Some(name), None) => name,
            (None, None, _) => return Ok(None),
            (None, Some(_), Some(_)) => {
                let all = self.profiles.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
                let message = format!("several profiles ({all}): choose one with --profile");
                return Err(BadSettings(message));
            }
        };
        Ok(Some((name.clone(), self.parse_profile_named(name)?)))
    }

    /// Name and title of every profile; for an invalid profile, its error instead of the title.
    pub(crate) fn profile_titles(&self) -> Vec<(String, String)> {
        let title = |name: &String| match self.parse_profile_named(name) {
            Ok(profile) => profile.display_name(),
            Err(problem) => problem.to_string(),
        };
        self.profiles.keys().map(|name| (name.clone(), title(name))).collect()
    }

    /// Parses the profile with this name.
    pub(crate) fn parse_profile_named(&self, name: &str) -> Result<Profile, BadSettings> {
        let Some(table) = self.profiles.get(name) else {
            let nearest = find_similar_name(name, self.profiles.keys().map(String::as_str));
            let hint = nearest.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            return Err(BadSettings(format!("no profile `{name}`{hint}")));
        };
        table.clone().try_into().map_err(|error: toml::de::Error| {
            BadSettings(format!("[profiles.{name}]: {}", error.message().trim()))
        })
    }

    /// Folder of the settings file, to which the paths in its profiles are relative.
    pub(crate) fn settings_file_folder(&self) -> &Path {
        self.file.as_deref().and_then(Path::parent).unwrap_or(Path::new(""))
    }
}

/// Everything that was given for one setting.
struct SettingInputs<'a> {
    flag: Option<String>,
    variable: Option<String>,
    in_file: Option<(&'a Path, &'a Value)>,
}

impl SettingInputs<'_> {
    /// Parses the flag, else the variable, else the value in the file, else the default.
    fn parse_by_precedence<T: SettingValue>(
        self,
        key: &'static str,
        variable: &'static str,
        default: &str,
    ) -> Result<Sourced<T>, BadSettings> {
        let (text, source) = match self {
            SettingInputs { flag: Some(text), .. } => (text, SettingSource::Flag),
            SettingInputs { variable: Some(text), .. } => {
                (text, SettingSource::Environment(variable))
            }
            SettingInputs { in_file: Some((file, value)), .. } => {
                (toml_value_to_text(key, T::SHAPE, value)?, SettingSource::File(file.to_owned()))
            }
            SettingInputs { .. } => (default.to_owned(), SettingSource::Default),
        };
        match T::parse(&text) {
            Some(value) => Ok(Sourced { value, source }),
            None => {
                Err(BadSettings(format!("`{key}` ({source}) is `{text}`: must be {}", T::SHAPE)))
            }
        }
    }
}

/// Converts a TOML value to the form it has in an environment variable.
fn toml_value_to_text(key: &str, shape: ValueShape, value: &Value) -> Result<String, BadSettings> {
    let wrong = || BadSettings(format!("`{key}` must be {shape}"));
    match (shape, value) {
        (ValueShape::Text | ValueShape::Address | ValueShape::OneOf(_), Value::String(text)) => {
            Ok(text.clone())
        }
        (ValueShape::Number, Value::Integer(number)) => Ok(number.to_string()),
        (ValueShape::TextList, Value::Array(texts)) => {
            let texts: Option<Vec<&str>> = texts.iter().map(Value::as_str).collect();
            texts.map(|texts| texts.join(",")).ok_or_else(wrong)
        }
        (
            ValueShape::Text
            | ValueShape::Address
            | ValueShape::OneOf(_)
            | ValueShape::Number
            | ValueShape::TextList,
            _,
        ) => Err(wrong()),
    }
}

fn push_setting_line<T: SettingValue>(
    table: &mut String,
    key: &str,
    setting: &Sourced<T>,
    about: &str,
) {
    let line = format!("{key} = {}", setting.value.to_toml());
    let source = &setting.source;
    table.extend([&*format!("{line:<32} # {source}: "), about, "\n"]);
}

/// Key of the table that holds the profiles.
const PROFILES_KEY: &str = "profiles";

/// Reads the settings and the profiles of the file. An unknown setting is an error.
fn read_settings_and_profiles(
    file: Option<&Path>,
) -> Result<(toml::Table, toml::Table), BadSettings> {
    let Some(file) = file else { return Ok((toml::Table::new(), toml::Table::new())) };
    let text = std::fs::read_to_string(file)
        .map_err(|error| BadSettings(format!("cannot read {}: {error}", file.display())))?;
    let mut table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        let error = error.to_string().trim().replace('\n', " ");
        BadSettings(format!("{} is not valid TOML: {error}", file.display()))
    })?;
    let profiles = match table.remove(PROFILES_KEY) {
        None => toml::Table::new(),
        Some(Value::Table(profiles)) => profiles,
        Some(_) => {
            return Err(BadSettings("`profiles` must contain tables: [profiles.NAME]".to_owned()));
        }
    };
    match table.keys().find(|key| !KEYS.contains(&key.as_str())) {
        Some(key) => Err(unknown_setting_error(key, file)),
        None => Ok((table, profiles)),
    }
}

fn unknown_setting_error(key: &str, file: &Path) -> BadSettings {
    let place = file.display();
    BadSettings(match find_similar_name(key, KEYS.iter().copied()) {
        Some(near) => format!("{place}: unknown setting `{key}`; did you mean `{near}`?"),
        None => format!("{place}: unknown setting `{key}`; `millpond config` lists them"),
    })
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
