#!/usr/bin/env bash
# CPU seconds of the AI SDK and of the OpenAI and Anthropic Python SDKs beside Millpond's, on the
# same bytes, in 16 KiB chunks. The shortest of 3 runs (of 15 for Millpond).
#   bench/peers/run.sh [DELTAS]
set -euo pipefail
deltas=${1:-100000}
repeats=3
cd "$(dirname "$0")"
(cd ../.. && cargo build -q --release -p millpond-bench -p millpond)
bin=../../target/release
export PYTHONDONTWRITEBYTECODE=1 NO_COLOR=1 AI_SDK_LOG_WARNINGS=false

mkdir -p data
: >data/results.jsonl
for count in 1000 "$deltas"; do # 1,000 is the warm-up
  "$bin/millpond-bench" streams data --deltas "$count" >/dev/null
done

skip() { echo "skipped: $1" >&2; }
try() { # name command...: a peer that fails or hangs leaves no line, and the others go on
  local name=$1
  shift
  timeout 900 "$@" >>data/results.jsonl 2>data/stderr || skip "$name: $(tail -n 1 data/stderr)"
}

# The AI SDK wants a newer Node than many machines have, so a pinned one is among the packages.
if npm ci --silent --ignore-scripts >data/npm.log 2>&1; then
  node=$(ls node_modules/node-*/bin/node 2>/dev/null || command -v node)
  for stream in chat responses anthropic; do
    try "AI SDK, $stream" "$node" ai-sdk.mjs data "$deltas" "$repeats" "$stream"
  done
else
  skip "AI SDK: npm ci failed, see bench/peers/data/npm.log"
fi

if { python3 -m venv .venv && .venv/bin/pip install -q -r requirements.txt; } >data/pip.log 2>&1; then
  try "OpenAI Python SDK" .venv/bin/python openai_sdk.py data "$deltas" "$repeats"
  try "Anthropic Python SDK" .venv/bin/python anthropic_sdk.py data "$deltas" "$repeats"
else
  skip "Python SDKs: pip failed, see bench/peers/data/pip.log"
fi

python3 table.py data "$deltas" "$repeats" "$bin/millpond" <data/results.jsonl
echo
"$bin/millpond-bench" ingest --deltas "$deltas" --data data --repeats 5
echo
uptime || true
