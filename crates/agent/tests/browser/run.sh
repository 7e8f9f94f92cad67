#!/usr/bin/env bash
# A real browser through Playwright's MCP server: navigate, click, screenshot, shown as actions.
#   crates/agent/tests/browser/run.sh
set -euo pipefail
cd "$(dirname "$0")"
if ! command -v chromium >/dev/null; then
  if [ "$(id -u)" = 0 ]; then as_root=(); else as_root=(sudo); fi
  "${as_root[@]}" apt-get update -q
  "${as_root[@]}" apt-get install -y -q --no-install-recommends chromium
fi
PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm ci --no-audit --no-fund --loglevel=error
cd ../..
exec cargo test --locked --test browser -- --nocapture
