#!/bin/sh
# Feeds the streams of all fixtures, and of the logs made for this, to the real clients. Needs Node 20 or later, npm and cargo.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../../.." && pwd)
streams=$(mktemp -d)
trap 'rm -rf "$streams"' EXIT

cd "$root"
cargo run --quiet -p millpond-gateway --example compat_streams -- "$streams" fixtures "$here/logs"
cd "$here"
# Only what the lock file names, and none of its scripts.
[ -d node_modules ] || npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
node judge.mjs "$streams"
