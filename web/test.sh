#!/usr/bin/env bash
# Tests of the web chat: type check, unit tests, and browser tests in Chromium against a real gateway.
#   web/test.sh [PLAYWRIGHT ARGUMENTS]
# With BUILT set, uses the existing binary in target/debug.
# Needs Node 20.19 or newer. As root on Debian, installs Chromium if it is missing.
set -euo pipefail
cd "$(dirname "$0")"

chromium=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
if [ -z "$chromium" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  { apt-get update -q && apt-get install -y -q --no-install-recommends chromium fonts-dejavu-core; } || true
  chromium=$(command -v chromium || true)
fi
# The same lock as build.rs, which shares node_modules.
exec 9>.build-lock
! command -v flock >/dev/null || flock 9
if ! cmp -s package-lock.json node_modules/.millpond-lock; then
  npm ci --include=dev --no-audit --no-fund --loglevel=error
  cp package-lock.json node_modules/.millpond-lock
fi
exec 9>&-

status=0
npx tsc --noEmit || status=$?
units=$(mktemp) pages=$(mktemp)
# Chromium leaves nothing in the home folder.
browser_home=$(mktemp -d)
export XDG_CONFIG_HOME=$browser_home XDG_CACHE_HOME=$browser_home
trap 'rm -rf "$units" "$pages" "$browser_home"' EXIT
npx vitest run --reporter=default --reporter=json --outputFile.json="$units" || status=$?

if [ -z "$chromium" ]; then
  echo "skipped: browser tests need Chromium. To install: sudo apt-get install chromium"
else
  [ -n "${BUILT:-}" ] || (cd .. && cargo build -q --locked -p millpond)
  CHROMIUM=$chromium PLAYWRIGHT_JSON_OUTPUT_NAME=$pages npx playwright test --reporter=list,json "$@" || status=$?
fi

node -e '
  const read = (file) => { try { return JSON.parse(require("fs").readFileSync(file, "utf8")); } catch { return {}; } };
  const [units, { stats = {} }] = process.argv.slice(1).map(read);
  const passed = (units.numPassedTests ?? 0) + (stats.expected ?? 0) + (stats.flaky ?? 0);
  // A test file that fails to load has no failed tests.
  const unloaded = (units.testResults ?? []).filter((file) => file.status === "failed" && !file.assertionResults.length);
  const failed = (units.numFailedTests ?? 0) + unloaded.length + (stats.unexpected ?? 0);
  console.log(`web: ${passed} passed, ${failed} failed`);
' "$units" "$pages"
exit "$status"
