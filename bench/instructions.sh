#!/usr/bin/env bash
# Instructions (valgrind): ingest beside the floor, frames of each view beside ingest, growth from
# 10,000 to 100,000 deltas, and the same deltas for 100 open messages beside one. The same on every
# machine, however busy it is.
#   bench/instructions.sh [FOLDER WITH STREAMS]
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build -q --release -p millpond-bench
bench=target/release/millpond-bench
data=()
[ $# -ge 1 ] && data=(--data "$1")
count() { # provider deltas job [OPTION...]
  valgrind --tool=none --version >/dev/null
  valgrind --tool=callgrind --callgrind-out-file=/dev/null \
    "$bench" once "$1" --deltas "$2" --job "$3" "${data[@]}" "${@:4}" 2>&1 >/dev/null |
    sed -n 's/.*Collected : //p'
}
echo "| stream | floor | ingest | rate of the floor | 10,000 -> 100,000 |"
echo "| --- | --- | --- | --- | --- |"
for provider in chat responses anthropic; do
  base=$(count "$provider" 10000 nothing)
  floor=$(($(count "$provider" 10000 floor) - base))
  small=$(($(count "$provider" 10000 ingest) - base))
  large=$(($(count "$provider" 100000 ingest) - $(count "$provider" 100000 nothing)))
  awk -v p="$provider" -v f="$floor" -v s="$small" -v l="$large" \
    'BEGIN { printf "| %s | %d | %d | %.0f %% | x %.2f |\n", p, f, s, 100 * f / s, l / s }'
done

echo
echo "| stream | view | frames | of ingest | 10,000 -> 100,000 |"
echo "| --- | --- | --- | --- | --- |"
for provider in chat responses anthropic; do
  base=$(count "$provider" 10000 nothing)
  ingest=$(($(count "$provider" 10000 ingest) - base))
  log=$(count "$provider" 10000 log)
  long_log=$(count "$provider" 100000 log)
  for view in latest steps bubbles transcript sentences; do
    small=$(($(count "$provider" 10000 "$view") - log))
    large=$(($(count "$provider" 100000 "$view") - long_log))
    awk -v p="$provider" -v v="$view" -v i="$ingest" -v s="$small" -v l="$large" \
      'BEGIN { printf "| %s | %s | %d | %.0f %% | x %.2f |\n", p, v, s, 100 * s / i, l / s }'
  done
done

echo
echo "| 10,000 deltas of | one open message | 100 open messages | ratio |"
echo "| --- | --- | --- | --- |"
one=(--open-messages 1)
many=(--open-messages 100)
row() { awk -v n="$1" -v o="$2" -v m="$3" 'BEGIN { printf "| %s | %d | %d | x %.2f |\n", n, o, m, m / o }'; }
row ingest \
  $(($(count responses 10000 ingest "${one[@]}") - $(count responses 10000 nothing "${one[@]}"))) \
  $(($(count responses 10000 ingest "${many[@]}") - $(count responses 10000 nothing "${many[@]}")))
log_one=$(count responses 10000 log "${one[@]}")
log_many=$(count responses 10000 log "${many[@]}")
for view in latest steps bubbles transcript sentences; do
  row "$view" \
    $(($(count responses 10000 "$view" "${one[@]}") - log_one)) \
    $(($(count responses 10000 "$view" "${many[@]}") - log_many))
done
