//! Builds the web chat with Node and generates the file list for `embed.rs`.
//! A published package has the built site in `dist` instead of the sources.

#![allow(clippy::print_stderr, reason = "build scripts report errors on standard error")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Paths whose changes trigger a rebuild in a checkout.
const WATCHED_PATHS: [&str; 11] = [
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
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let listed = match build_or_find_site(&here, &out) {
        Ok(dist) => format_file_list_as_rust(&dist),
        Err(SiteError::NoTools(reason)) => {
            println!("cargo::warning=built without the web chat: {reason}");
            Ok("&[]".to_owned())
        }
        Err(SiteError::Failed(problem)) => Err(problem),
    };
    let written = listed.and_then(|files| {
        fs::write(out.join("files.rs"), files).map_err(|error| format!("cannot write: {error}"))
    });
    if let Err(problem) = written {
        eprintln!("error: cannot build the web chat: {problem}");
        eprintln!("To build without it: cargo build -p millpond --no-default-features");
        std::process::exit(1);
    }
}

/// Why the web chat was not built.
enum SiteError {
    /// Node or the npm packages are missing; everything else can be built without them.
    NoTools(String),
    Failed(String),
}

/// Returns the folder of the built site.
fn build_or_find_site(here: &Path, out: &Path) -> Result<PathBuf, SiteError> {
    // In a checkout `dist` may be out of date.
    if !here.join("src").exists() {
        return Ok(here.join("dist"));
    }
    for source in WATCHED_PATHS {
        println!("cargo::rerun-if-changed={source}");
    }
    // Node may be installed later.
    println!("cargo::rerun-if-env-changed=PATH");
    let dist = out.join("dist");
    build_site_with_node(here, &dist).map(|()| dist)
}

/// Installs the npm packages and runs Vite.
fn build_site_with_node(here: &Path, dist: &Path) -> Result<(), SiteError> {
    check_node_version().map_err(SiteError::NoTools)?;
    let _lock = lock_node_modules(here).map_err(SiteError::Failed)?;
    install_packages_if_changed(here)?;
    build_site(here, dist).map_err(SiteError::Failed)
}

/// Runs `node --version` and checks that Vite supports it.
fn check_node_version() -> Result<(), String> {
    let output = Command::new("node").arg("--version").output();
    let output = output.map_err(|_| {
        "Node not found. Install Node 20.19 or newer (https://nodejs.org) and build again"
            .to_owned()
    })?;
    let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let mut numbers = version.trim_start_matches('v').split('.').map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(20)), Some(Ok(minor))) if 19 <= minor => Ok(()),
        (Some(Ok(22)), Some(Ok(minor))) if 12 <= minor => Ok(()),
        (Some(Ok(major)), _) if 23 <= major => Ok(()),
        _ => Err(format!("found Node {version}, but it needs Node 20.19, 22.12 or newer")),
    }
}

/// Locks `node_modules` while it is changed or used: builds with other target folders share it.
fn lock_node_modules(here: &Path) -> Result<fs::File, String> {
    let path = here.join(".build-lock");
    let locking = |error: std::io::Error| format!("cannot lock {}: {error}", path.display());
    let file = fs::File::create(&path).map_err(locking)?;
    file.lock().map_err(locking)?;
    Ok(file)
}

/// Runs `npm ci`, unless `package-lock.json` is unchanged since the last install.
fn install_packages_if_changed(here: &Path) -> Result<(), SiteError> {
    let lock = fs::read(here.join("package-lock.json"))
        .map_err(|error| SiteError::Failed(format!("cannot read package-lock.json: {error}")))?;
    let mark = here.join("node_modules/.millpond-lock");
    if fs::read(&mark).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    run_npm(here, &["ci", "--include=dev", "--no-audit", "--no-fund", "--loglevel=error"])
        .map_err(|error| {
            if is_network_error(&error) {
                SiteError::NoTools(OFFLINE_HELP.to_owned())
            } else {
                SiteError::Failed(error)
            }
        })?;
    fs::write(&mark, lock)
        .map_err(|error| SiteError::Failed(format!("{}: {error}", mark.display())))
}

const OFFLINE_HELP: &str = "its npm packages are not installed, and the npm registry is \
                            unreachable. Build again with network access";

/// Returns true if npm's output has a network error code.
fn is_network_error(output: &str) -> bool {
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
    .any(|code| output.contains(code))
}

/// Runs Vite.
fn build_site(here: &Path, dist: &Path) -> Result<(), String> {
    let dist = dist.to_string_lossy();
    run_npm(here, &["run", "build", "--", "--outDir", &dist, "--emptyOutDir", "--logLevel", "warn"])
}

/// Runs npm; returns its output as the error if it fails.
fn run_npm(here: &Path, args: &[&str]) -> Result<(), String> {
    let program = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let ran = Command::new(program).args(args).current_dir(here).output();
    let ran = ran.map_err(|error| format!("cannot run `npm`: {error}"))?;
    if ran.status.success() {
        return Ok(());
    }
    let output = [&ran.stdout, &ran.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
    Err(format!("`npm {}` failed:\n{}", args.join(" "), output.concat()))
}

/// Generates a Rust array of the files in `dist`; `X.gz` and `X.br` are compressed forms of `X`.
fn format_file_list_as_rust(dist: &Path) -> Result<String, String> {
    let mut found = Vec::new();
    collect_files(dist, &mut found).map_err(|error| format!("{}: {error}", dist.display()))?;
    found.sort();
    let mut list = String::from("&[\n");
    for file in found.iter().filter(|file| !has_compressed_extension(file)) {
        let below = file.strip_prefix(dist).unwrap_or(file).to_string_lossy().replace('\\', "/");
        let packed = |end: &str| {
            let path = PathBuf::from(format!("{}.{end}", file.display()));
            let there =
                path.exists().then(|| format!("Some(include_bytes!({}))", quote_path(&path)));
            there.unwrap_or_else(|| "None".to_owned())
        };
        let path = format!("/{below}");
        let (gzip, brotli) = (packed("gz"), packed("br"));
        // Few clients want it uncompressed: the program would be a sixth larger for them.
        let bytes = match gzip.as_str() {
            "None" => format!("Some(include_bytes!({}))", quote_path(file)),
            _ => "None".to_owned(),
        };
        let _infallible = writeln!(
            list,
            "    File {{ path: {path:?}, bytes: {bytes}, gzip: {gzip}, brotli: {brotli} }},",
        );
    }
    list.push(']');
    Ok(list)
}

fn quote_path(path: &Path) -> String {
    format!("{:?}", path.to_string_lossy())
}

fn has_compressed_extension(file: &Path) -> bool {
    file.extension().is_some_and(|end| end == "gz" || end == "br")
}

fn collect_files(folder: &Path, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect_files(&path, found)?;
        } else {
            found.push(path);
        }
    }
    Ok(())
}
