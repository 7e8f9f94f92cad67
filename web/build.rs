//! Builds the web chat with Node and lists its files for `embed.rs`.

#![allow(clippy::print_stderr, reason = "that is how a build script speaks")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const SOURCES: [&str; 11] = [
    "src",
    "packages/client/src",
    "packages/client/package.json",
    "public",
    "index.html",
    "theatre.html",
    "package.json",
    "package-lock.json",
    "vite.config.ts",
    "vite.plugins.ts",
    "tsconfig.json",
];

fn main() {
    for source in SOURCES {
        println!("cargo::rerun-if-changed={source}");
    }
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let dist = out.join("dist");
    let built = look_for_node().and_then(|()| lock(&here)).and_then(|_alone| {
        install(&here)?;
        build(&here, &dist)
    });
    let listed = built.and_then(|()| list(&dist)).and_then(|files| {
        fs::write(out.join("files.rs"), files).map_err(|error| format!("cannot write: {error}"))
    });
    if let Err(problem) = listed {
        eprintln!("error: the web chat could not be built: {problem}");
        eprintln!("It is built by Node 20.19 or newer with npm (https://nodejs.org).");
        eprintln!("To build without it: cargo build -p millpond --no-default-features");
        std::process::exit(1);
    }
}

fn look_for_node() -> Result<(), String> {
    let asked = Command::new("node").arg("--version").output();
    let said = asked.map_err(|error| format!("`node` cannot be started ({error})"))?;
    let version = String::from_utf8_lossy(&said.stdout).trim().to_owned();
    let mut numbers = version.trim_start_matches('v').split('.').map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(20)), Some(Ok(minor))) if 19 <= minor => Ok(()),
        (Some(Ok(22)), Some(Ok(minor))) if 12 <= minor => Ok(()),
        (Some(Ok(major)), _) if 23 <= major => Ok(()),
        _ => Err(format!("`node` is {version}, and Node 20.19, 22.12 or newer is needed")),
    }
}

/// Held while `node_modules` is changed or used: builds with other target folders have the same one.
fn lock(here: &Path) -> Result<fs::File, String> {
    let path = here.join(".build-lock");
    let told = |error: std::io::Error| format!("{} cannot be locked: {error}", path.display());
    let file = fs::File::create(&path).map_err(told)?;
    file.lock().map_err(told)?;
    Ok(file)
}

/// Installs what the lock file names, unless that is what was installed last.
fn install(here: &Path) -> Result<(), String> {
    let lock = fs::read(here.join("package-lock.json"))
        .map_err(|error| format!("package-lock.json cannot be read: {error}"))?;
    let mark = here.join("node_modules/.millpond-lock");
    if fs::read(&mark).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    npm(here, &["ci", "--include=dev", "--no-audit", "--no-fund", "--loglevel=error"])
        .map_err(|said| if is_offline(&said) { format!("{OFFLINE}\n{said}") } else { said })?;
    fs::write(&mark, lock).map_err(|error| format!("{}: {error}", mark.display()))
}

const OFFLINE: &str = "its packages are not installed, and npm cannot reach where they are. \
                       Build once with a network; later builds need none.";

fn is_offline(said: &str) -> bool {
    [
        "ENOTFOUND",
        "EAI_AGAIN",
        "ECONNREFUSED",
        "ECONNRESET",
        "ENETUNREACH",
        "ETIMEDOUT",
        "ENOTCACHED",
    ]
    .iter()
    .any(|code| said.contains(code))
}

fn build(here: &Path, dist: &Path) -> Result<(), String> {
    let dist = dist.to_string_lossy();
    npm(here, &["run", "build", "--", "--outDir", &dist, "--emptyOutDir", "--logLevel", "warn"])
}

fn npm(here: &Path, words: &[&str]) -> Result<(), String> {
    let program = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let ran = Command::new(program).args(words).current_dir(here).output();
    let ran = ran.map_err(|error| format!("`npm` cannot be started ({error})"))?;
    if ran.status.success() {
        return Ok(());
    }
    let said = [&ran.stdout, &ran.stderr].map(|said| String::from_utf8_lossy(said).into_owned());
    Err(format!("`npm {}` failed:\n{}", words.join(" "), said.concat()))
}

/// The files as an expression of Rust. What is beside a file as `.gz` or `.br` is that file.
fn list(dist: &Path) -> Result<String, String> {
    let mut found = Vec::new();
    walk(dist, &mut found).map_err(|error| format!("{}: {error}", dist.display()))?;
    found.sort();
    let mut list = String::from("&[\n");
    for file in found.iter().filter(|file| !is_packed(file)) {
        let below = file.strip_prefix(dist).unwrap_or(file).to_string_lossy().replace('\\', "/");
        let packed = |end: &str| {
            let path = PathBuf::from(format!("{}.{end}", file.display()));
            let there = path.exists().then(|| format!("Some(include_bytes!({}))", quoted(&path)));
            there.unwrap_or_else(|| "None".to_owned())
        };
        let path = format!("/{below}");
        let _infallible = writeln!(
            list,
            "    File {{ path: {path:?}, bytes: include_bytes!({}), gzip: {}, brotli: {} }},",
            quoted(file),
            packed("gz"),
            packed("br"),
        );
    }
    list.push(']');
    Ok(list)
}

fn quoted(path: &Path) -> String {
    format!("{:?}", path.to_string_lossy())
}

fn is_packed(file: &Path) -> bool {
    file.extension().is_some_and(|end| end == "gz" || end == "br")
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            walk(&path, found)?;
        } else {
            found.push(path);
        }
    }
    Ok(())
}
