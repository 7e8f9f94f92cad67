use super::*;

fn load(
    file: Option<&str>,
    flags: &SettingFlags,
    set: &[(&str, &str)],
) -> Result<Settings, String> {
    let dir = tempfile::tempdir().map_err(|error| error.to_string())?;
    let path = dir.path().join("millpond.toml");
    if let Some(text) = file {
        std::fs::write(&path, text).map_err(|error| error.to_string())?;
    }
    let environment = |name: &str| {
        set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    };
    Settings::load(file.map(|_| &*path), flags, environment).map_err(|error| error.to_string())
}

#[test]
fn flags_win_over_variables_over_the_file_over_defaults() {
    let file = Some("listen = \"a:1\"\nkeep_days = 7\nhosts = [\"x\", \"y\"]\ndata = \"/f\"\n");
    let variables = [("MILLPOND_LISTEN", "b:2"), ("MILLPOND_DATA", "/e")];
    let config = load(
        file,
        &SettingFlags { listen: Some("c:3".to_owned()), ..SettingFlags::default() },
        &variables,
    )
    .unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(config.listen.value.to_string(), "c:3");
    assert_eq!(config.listen.source, SettingSource::Flag);
    assert_eq!(config.data.value.as_deref(), Some(Path::new("/e")));
    assert_eq!(config.keep_days.value, Days(7));
    assert_eq!(config.retention().max_age, Some(std::time::Duration::from_hours(7 * 24)));
    assert_eq!(config.retention().max_bytes, None);
    assert_eq!(config.hosts.value, ["x", "y"]);
    assert_eq!(config.durability.value, Durability::Window);
    let table = config.render_table();
    for part in ["\"c:3\"", "# flag", "# $MILLPOND_DATA", "millpond.toml: days", "# default"] {
        assert!(table.contains(part), "{part} in\n{table}");
    }
}

#[test]
fn an_unknown_key_names_the_nearest_one() {
    let problem =
        load(Some("lisen = \"a:1\"\n"), &SettingFlags::default(), &[]).err().unwrap_or_default();
    assert!(problem.ends_with("unknown setting `lisen`; did you mean `listen`?"), "{problem}");
    let problem =
        load(Some("something_else = 1\n"), &SettingFlags::default(), &[]).err().unwrap_or_default();
    assert!(problem.contains("`millpond config` lists them"), "{problem}");
}

#[test]
fn a_wrong_value_says_what_is_wanted_and_where_it_stood() {
    for (file, set, part) in [
        (Some("keep_days = \"x\"\n"), vec![], "`keep_days` must be a whole number"),
        (Some("hosts = [1]\n"), vec![], "`hosts` must be a list of strings"),
        (Some("durability = \"maybe\"\n"), vec![], "must be one of window, full"),
        (Some("listen = [\n"), vec![], "is not valid TOML"),
        (Some("listen = \"8181\"\n"), vec![], "is `8181`: must be HOST:PORT"),
        (Some("listen = \"pond:99999\"\n"), vec![], "must be HOST:PORT"),
        (Some("certificate = \"a.pem\"\n"), vec![], "`certificate` needs `key`"),
        (Some("log = \"trace\"\n"), vec![], "must be one of error, warn, info, debug"),
        (None, vec![("MILLPOND_KEEP_DAYS", "-1")], "`keep_days` ($MILLPOND_KEEP_DAYS) is `-1`"),
    ] {
        let problem = load(file, &SettingFlags::default(), &set).err().unwrap_or_default();
        assert!(problem.contains(part), "{part} in {problem}");
    }
}
