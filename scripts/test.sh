#!/usr/bin/env bash
# Everything that must pass: formatting, lints, all tests. Installs what it needs.
#   scripts/test.sh
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v cc >/dev/null; then
  echo "installing a C linker, which Rust needs"
  if [ "$(id -u)" = 0 ]; then as_root=(); else as_root=(sudo); fi
  "${as_root[@]}" apt-get update -q
  "${as_root[@]}" apt-get install -y -q --no-install-recommends gcc libc6-dev
fi
if ! command -v cargo >/dev/null; then
  echo "no cargo found: install Rust 1.95 or newer (https://rustup.rs), then run this again" >&2
  exit 1
fi

# Says the version of Node, if it is one that the clients run on.
node_of_age() {
  command -v npm >/dev/null && node --version 2>/dev/null | grep -E '^v(2[0-9]|[3-9][0-9])\.' || true
}

step() { printf '\n== %s\n' "$*"; }

if [ -z "$(node_of_age)" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "installing Node, which builds the web chat"
  { apt-get update -q && apt-get install -y -q --no-install-recommends nodejs npm python3-venv; } || true
fi

if ! command -v tmux >/dev/null && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "installing tmux, which referees the terminal"
  { apt-get update -q && apt-get install -y -q --no-install-recommends tmux; } || true
fi

step "format"
cargo fmt --all --check

step "lints"
cargo clippy --workspace --all-targets --all-features --locked -- -D warnings

step "real MCP servers for the tests"
# Where they cannot be installed, the tests that need them say that they are skipped.
crates/agent/tests/servers/install.sh || true

step "tests"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
# Output is shown also of tests that pass: those that are skipped say so.
cargo test --workspace --all-features --locked --no-fail-fast -- --show-output 2>&1 | tee "$log" || status=$?

# What follows uses what the tests have built: alone it would be built with other features, once more.
export BUILT=1

step "web chat"
web/test.sh 2>&1 | tee -a "$log" || status=$?

step "other people's clients"
if [ -n "$(node_of_age)" ]; then
  crates/gateway/tests/judges/run.sh sample 2>&1 | tee -a "$log" || status=$?
  docs/scenarios/run.sh compare 2>&1 | tee -a "$log" || status=$?
else
  echo "skipped: other people's clients need Node 20 or later, and npm" | tee -a "$log"
fi

skipped=$(grep -c '^skipped: ' "$log" || true)
awk -v skipped="$skipped" -v status="$status" '/^test result:/ { passed += $4; failed += $6 }
  /^(judges|web):/ { passed += $2; failed += $4 }
  END { if (status != 0 && failed == 0) print "\nfailed: a step above ended with " status ", and counted nothing as failed"
        printf "\n%d passed, %d failed, %d skipped\n", passed, failed, skipped }' "$log"
exit "$status"
