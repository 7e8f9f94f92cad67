//! Options of a profile's source: the same names and values as `millpond show` and ingest take.

use millpond_engine::run::{OptionValues, SourceOption, SourceOptions, find_similar_name};
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::Profile;

impl<'de> Deserialize<'de> for Profile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Profile, D::Error> {
        let mut members = Map::deserialize(deserializer)?;
        let source_options = take_source_options(&mut members).map_err(D::Error::custom)?;
        let similar = find_key_similar_to_option(&members);
        // The members that are left are those of the struct.
        let profile = Profile::deserialize(Value::from(members)).map_err(|error| {
            let hint = similar
                .filter(|(key, _)| error.to_string().contains(&format!("`{key}`")))
                .map(|(_, near)| format!("; did you mean `{near}`?"))
                .unwrap_or_default();
            D::Error::custom(format!("{error}{hint}"))
        })?;
        Ok(Profile { source_options, ..profile })
    }
}

/// Removes the options of the source from a profile's members and parses them.
fn take_source_options(members: &mut Map<String, Value>) -> Result<SourceOptions, String> {
    let mut options = SourceOptions::default();
    for option in SourceOption::ALL {
        let name = option.as_str();
        let Some(value) = members.remove(name) else { continue };
        let values = match (option.values(), value) {
            (OptionValues::Switch, Value::Bool(switch)) => vec![switch.to_string()],
            (OptionValues::One | OptionValues::Many, Value::String(text)) => vec![text],
            (OptionValues::Many, Value::Array(texts)) => texts
                .into_iter()
                .map(|text| text.as_str().map(str::to_owned))
                .collect::<Option<_>>()
                .ok_or_else(|| format!("`{name}` must be a list of strings"))?,
            (OptionValues::Switch, _) => return Err(format!("`{name}` must be true or false")),
            (OptionValues::One, _) => return Err(format!("`{name}` must be a string")),
            (OptionValues::Many, _) => {
                return Err(format!("`{name}` must be a string or a list of strings"));
            }
        };
        for value in values {
            options
                .push(option, &value)
                .map_err(|bad| format!("invalid value `{value}` for `{name}`: {bad}"))?;
        }
    }
    Ok(options)
}

/// First key that is similar to the name of an option, and that name.
fn find_key_similar_to_option(members: &Map<String, Value>) -> Option<(String, &'static str)> {
    members.keys().find_map(|key| {
        let names = SourceOption::ALL.into_iter().map(SourceOption::as_str);
        Some((key.clone(), find_similar_name(key, names)?))
    })
}
