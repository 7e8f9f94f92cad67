#!/usr/bin/env bash
# The Autobahn testsuite against the WebSocket stack of the gateway: once with room for its largest
# messages, once with the gateway's own bound. Needs Python 2.7 (PYTHON2) with pip, Node and cargo.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../../.." && pwd)
python=${PYTHON2:-python2.7}
suite=$root/target/autobahn
if ! "$python" --version >/dev/null 2>&1; then
  echo "skipped: the Autobahn testsuite needs Python 2.7; say where it is with PYTHON2"
  exit 0
fi
if [ ! -d "$suite/autobahntestsuite" ]; then
  "$python" -m pip install --quiet --disable-pip-version-check --target "$suite" autobahntestsuite==0.8.2
  # A namespace package that Python does not find in a folder of its own.
  touch "$suite/zope/__init__.py"
fi
cd "$root"
cargo build --quiet -p millpond-gateway --example echo_socket

work=$(mktemp -d)
server=
stop() {
  # It serves until its standard input ends.
  exec 3>&- || true
  [ -z "$server" ] || wait "$server" || true
  server=
}
trap 'stop; rm -rf "$work"' EXIT

judge() { # NAME [BYTES_MAX]
  local name=$1
  shift
  rm -f "$work/in"
  mkfifo "$work/in"
  : >"$work/address"
  "$root/target/debug/examples/echo_socket" "$@" <"$work/in" >"$work/address" &
  server=$!
  exec 3>"$work/in"
  until [ -s "$work/address" ]; do sleep 0.05; done
  cat >"$work/spec.json" <<SPEC
{"outdir": "$work/$name", "servers": [{"agent": "$name", "url": "ws://$(cat "$work/address")/"}],
 "cases": ["1.*", "2.*", "3.*", "4.*", "5.*", "6.*", "7.*"], "exclude-cases": [], "exclude-agent-cases": {}}
SPEC
  PYTHONPATH=$suite "$python" -m autobahntestsuite.wstest -m fuzzingclient -s "$work/spec.json" >"$work/log" 2>&1 ||
    { tail -20 "$work/log" >&2; return 1; }
  stop
  node "$here/summary.mjs" "$work/$name/index.json" "$name"
}

judge unbounded 16777216
judge gateway
