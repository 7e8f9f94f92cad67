# What the scenarios share: a gateway of their own, a run that goes on when it is told to, and tabs.
# Everything is on loopback and in a folder that is removed at the end.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
stream=$root/fixtures/claude-code/partial-messages.jsonl
work=$(mktemp -d)
processes=()

finish() {
  local process
  for process in "${processes[@]}"; do kill "$process" 2>/dev/null || true; done
  for process in "${processes[@]}"; do wait "$process" 2>/dev/null || true; done
  rm -rf "$work"
}
trap finish EXIT

# A line between the gateway and a tab; `unplug` makes it silent without closing anything.
node "$here/wire.mjs" "$work/port" >"$work/wire" &
wire=$!
processes+=("$wire")
until [ -s "$work/wire" ]; do sleep 0.02; done
through_wire=http://127.0.0.1:$(cat "$work/wire")
unplug() { kill -USR2 "$wire"; wire_says dead; }
plug_in() { kill -USR2 "$wire"; wire_says alive; }
wire_says() { until [ "$(cat "$work/port.is" 2>/dev/null)" = "$1" ]; do sleep 0.02; done; }

: >"$work/gateway"
"$root/target/debug/millpond" serve --listen 127.0.0.1:0 --data "$work/data" \
  --host "${through_wire#http://}" 2>>"$work/gateway" &
processes+=($!)
until grep -q '^millpond: listening on ' "$work/gateway" && [ -s "$work/data/token" ]; do sleep 0.02; done
gateway=$(sed -n 's/^millpond: listening on //p' "$work/gateway")
echo "${gateway##*:}" >"$work/port"
token=$(cat "$work/data/token")

call() { curl -sS -H "authorization: Bearer $token" "$@"; }
new_session() { call -X POST -H 'content-type: application/json' -d '{}' "$gateway/v1/sessions" | field id; }
field() { node -e 'console.log(JSON.parse(require("fs").readFileSync(0))[process.argv[1]])' "$1"; }

# Begins a run: a stream that an agent would write. `play FROM TO` writes lines of it, `end_run` ends it.
begin_run() {
  mkfifo "$work/agent"
  call -X POST -T - "$gateway/v1/ingest/auto?session=$session" <"$work/agent" >"$work/outcome" &
  ingest=$!
  exec 5>"$work/agent"
}
play() { sed -n "$1,$2p" "$stream" >&5; }
end_run() {
  exec 5>&-
  wait "$ingest"
  echo "the run is $(field outcome <"$work/outcome")"
}

# A tab: the npm client `eventsource` with a page. `tell NAME COMMAND` does it and prints what it says.
open_tab() { # NAME VIEW BASE
  mkfifo "$work/$1.in" "$work/$1.out"
  node "$here/tab.mjs" "$3" "$token" "$session" "$2" <"$work/$1.in" >"$work/$1.out" 5>&- &
  processes+=($!)
  eval "exec {in_$1}>'$work/$1.in' {out_$1}<'$work/$1.out'"
}
tell() {
  local in=in_$1 out=out_$1 line
  echo "$2" >&"${!in}"
  while IFS= read -r line <&"${!out}" && [ "$line" != . ]; do echo "$1 | $line"; done
}

# A stream has no end: curl reads it until the run has one.
read_stream() {
  # Emptied here: the background job may open it later, and an earlier stream in it has an end.
  : >"$work/stream"
  call -N "$@" >>"$work/stream" 5>&- &
  local reading=$!
  until sed -n '/^event:final/,$p' "$work/stream" | grep -q '^$'; do sleep 0.02; done
  kill "$reading"
  wait "$reading" 2>/dev/null || true
  cat "$work/stream"
}
