#!/usr/bin/env bash
# Does every scenario and keeps what it prints beside it, or compares.
#   run.sh           writes NAME.txt for every NAME.sh
#   run.sh compare   fails where that would change it
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
[ -n "${BUILT:-}" ] || (cd "$root" && cargo build --quiet --locked -p millpond)
[ -d "$root/crates/gateway/tests/judges/node_modules/eventsource" ] ||
  (cd "$root/crates/gateway/tests/judges" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)

# Ids and times differ every time.
normalised() {
  sed -E -e 's/\b[0-9A-HJKMNP-TV-Z]{26}\b/ID/g' -e 's/"(at_ms|ts|timestamp|ran_for_ms|ranForMs)":[0-9]+/"\1":0/g' \
    -e 's/Ran for [0-9.]+ ?m?s/Ran for 0s/g' -e 's/~1[0-9A-Za-z]{1,7}/~1EPOCH/'
}

passed=0 failed=0
for name in late-joiner two-tabs dead-network; do
  printed=$(timeout 60 "$here/$name.sh" | normalised) || { echo "$name: it did not come to its end" >&2; failed=$((failed + 1)); continue; }
  if [ "${1:-}" != compare ]; then
    printf '%s\n' "$printed" >"$here/$name.txt"
  elif ! diff -u "$here/$name.txt" - <<<"$printed"; then
    failed=$((failed + 1))
    continue
  fi
  passed=$((passed + 1))
done
echo "judges: $passed passed, $failed failed"
[ "$failed" = 0 ]
