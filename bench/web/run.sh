#!/usr/bin/env bash
# Millpond's streaming markdown beside React's Streamdown, in the same Chromium.
#   bench/web/run.sh            three rounds
#   ROUNDS=1 bench/web/run.sh   one
set -euo pipefail
cd "$(dirname "$0")"
[ -d ../../web/node_modules ] || npm --prefix ../../web ci --ignore-scripts
[ -d node_modules ] || npm ci --ignore-scripts --no-audit --no-fund
node ../../web/node_modules/vite/bin/vite.js build --config vite.config.mjs
node measure.mjs
