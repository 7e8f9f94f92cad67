#!/usr/bin/env bash
# Checks formatting, lints and all tests. Installs missing tools.
#   scripts/test.sh
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v cc >/dev/null; then
  echo "installing a C linker (needed by Rust)"
  if [ "$(id -u)" = 0 ]; then as_root=(); else as_root=(sudo); fi
  "${as_root[@]}" apt-get update -q
  "${as_root[@]}" apt-get install -y -q --no-install-recommends gcc libc6-dev
fi
if ! command -v cargo >/dev/null; then
  echo "cargo not found: install Rust 1.95 or newer (https://rustup.rs) and try again" >&2
  exit 1
fi

# Prints the version of Node if it is 20 or newer, else nothing.
supported_node() {
  command -v npm >/dev/null && node --version 2>/dev/null | grep -E '^v(2[0-9]|[3-9][0-9])\.' || true
}

step() { printf '\n== %s\n' "$*"; }

if [ -z "$(supported_node)" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "installing Node (builds the web chat)"
  { apt-get update -q && apt-get install -y -q --no-install-recommends nodejs npm python3-venv; } || true
fi

if ! command -v tmux >/dev/null && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "installing tmux (for the terminal tests)"
  { apt-get update -q && apt-get install -y -q --no-install-recommends tmux; } || true
fi

step "format"
cargo fmt --all --check

step "lints"
cargo clippy --workspace --all-targets --all-features --locked -- -D warnings

step "real MCP servers for the tests"
# If they cannot be installed, the tests that need them are skipped and say so.
crates/agent/tests/servers/install.sh || true

step "tests"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
# Also show the output of passing tests: skipped ones print a line.
cargo test --workspace --all-features --locked --no-fail-fast -- --show-output 2>&1 | tee "$log" || status=$?

# Reuse the binaries of the tests; otherwise they would be rebuilt with other features.
export BUILT=1

step "web chat"
web/test.sh 2>&1 | tee -a "$log" || status=$?

step "third-party clients"
if [ -n "$(supported_node)" ]; then
  crates/gateway/tests/judges/run.sh sample 2>&1 | tee -a "$log" || status=$?
  docs/scenarios/run.sh compare 2>&1 | tee -a "$log" || status=$?
else
  echo "skipped: third-party clients need Node 20 or newer and npm" | tee -a "$log"
fi

skipped=$(grep -c '^skipped: ' "$log" || true)
awk -v skipped="$skipped" -v status="$status" '/^test result:/ { passed += $4; failed += $6 }
  /^(judges|web):/ { passed += $2; failed += $4 }
  END { if (status != 0 && failed == 0) print "\nfailed: a step above exited with status " status " without counting a failure"
        printf "\n%d passed, %d failed, %d skipped\n", passed, failed, skipped }' "$log"
exit "$status"
