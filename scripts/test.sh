#!/usr/bin/env bash
# Checks formatting, lints and all tests. Installs missing tools if it may (as root, or with sudo that asks for no password).
#   scripts/test.sh
set -euo pipefail
cd "$(dirname "$0")/.."
# A thousand readers in one process need more open files than an ordinary user usually has.
ulimit -n "$(ulimit -Hn)" 2>/dev/null || true

# Runs a command as root; fails without a question if that is not allowed.
as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@" 2>/dev/null; fi
}

# install WHY PACKAGE...: installs Debian packages, or says what to type.
install() {
  local why=$1
  shift
  echo "installing $* ($why)"
  if command -v apt-get >/dev/null && as_root apt-get update -q && as_root apt-get install -y -q --no-install-recommends "$@"; then
    return
  fi
  echo "not installed: $* ($why). To install: sudo apt-get install $*" >&2
  return 1
}

# Prints the version of Node if it is 20.19 or newer and has npm, else nothing.
supported_node() {
  command -v npm >/dev/null && node --version 2>/dev/null | grep -E '^v(20\.(19|[2-9][0-9])|2[1-9]|[3-9][0-9])\b' || true
}

if ! command -v cc >/dev/null; then install "linker, needed by Rust" gcc libc6-dev || exit 1; fi
if ! command -v cargo >/dev/null; then
  echo "cargo not found. Install Rust 1.95 or newer (https://rustup.rs), then run scripts/test.sh again" >&2
  exit 1
fi
[ -n "$(supported_node)" ] || install "the web chat and third-party clients" nodejs npm python3-venv || true
if [ -z "$(supported_node)" ] && command -v npm >/dev/null; then
  # Debian's Node may be too old; npm has newer ones.
  tools=$PWD/target/tools
  npm install --prefix "$tools" --no-audit --no-fund --loglevel=error node@22 npm@11 || true
  export PATH=$tools/node_modules/.bin:$PATH
fi
command -v curl >/dev/null || install "scenarios of third-party clients" curl || true
command -v git >/dev/null || install "checkpoints" git || true
command -v tmux >/dev/null || install "tests in a real terminal" tmux || true

parts=()
part="" began=0
# step NAME: ends the part before it and begins another. The last call has no name.
step() {
  [ -z "$part" ] || parts+=("$(printf '%4d s  %s' "$((SECONDS - began))" "$part")")
  part=${1:-} began=$SECONDS
  [ -z "$part" ] || printf '\n== %s\n' "$part"
}

step "format"
cargo fmt --all --check

step "lints"
cargo clippy --workspace --all-targets --all-features --locked -- -D warnings

step "real MCP servers for the tests"
# If they cannot be installed, the tests that need them are skipped and say so.
crates/agent/tests/servers/install.sh || true

step "build of the tests"
cargo test --workspace --all-features --locked --no-run

# The same generated cases in every run: new ones are the work of `scripts/campaign.sh properties`.
export PROPTEST_RNG_SEED=${PROPTEST_RNG_SEED:-20261119}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
step "tests"
# Also show the output of passing tests: skipped ones print a line.
cargo test --workspace --all-features --locked --no-fail-fast -- --show-output 2>&1 | tee "$log" || status=$?

# Reuse the binaries of the tests; otherwise they would be rebuilt with other features.
export BUILT=1

step "web chat"
if [ -n "$(supported_node)" ]; then
  web/test.sh 2>&1 | tee -a "$log" || status=$?
else
  echo "skipped: tests of the web chat need Node 20.19 or newer and npm (https://nodejs.org)" | tee -a "$log"
fi

step "third-party clients"
if [ -n "$(supported_node)" ]; then
  crates/gateway/tests/judges/run.sh sample 2>&1 | tee -a "$log" || status=$?
  if command -v curl >/dev/null; then
    docs/scenarios/run.sh compare 2>&1 | tee -a "$log" || status=$?
  else
    echo "skipped: the scenarios in docs/scenarios need curl. To install: sudo apt-get install curl" | tee -a "$log"
  fi
else
  echo "skipped: third-party clients need Node 20.19 or newer and npm (https://nodejs.org)" | tee -a "$log"
fi

step
printf '\n'
printf '%s\n' "${parts[@]}"
skipped=$(grep -c '^skipped: ' "$log" || true)
awk -v skipped="$skipped" -v status="$status" '/^test result:/ { passed += $4; failed += $6 }
  /^(judges|web):/ { passed += $2; failed += $4 }
  END { if (status != 0 && failed == 0) print "\nfailed: a step above exited with status " status " without counting a failure"
        printf "\n%d passed, %d failed, %d skipped\n", passed, failed, skipped }' "$log"
exit "$status"
