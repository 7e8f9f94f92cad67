#!/usr/bin/env bash
# Runs every fuzz target, or those named, for a given time each, and prints how often each ran.
#   fuzz/run.sh SECONDS [frames|filter|run|DIALECT ...]
# Needs a nightly toolchain and cargo-fuzz. Stops at the first crash and says where its input is.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:?how many seconds for each target}
shift
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
  targets=(frames filter run auto)
  for folder in fixtures/*/; do targets+=("$(basename "$folder")"); done
fi
cargo +nightly fuzz build -O -a >/dev/null 2>fuzz/build.log || { cat fuzz/build.log >&2; exit 1; }
for target in "${targets[@]}"; do
  case $target in
    frames | filter | run) binary=$target seeds=() ;;
    auto) binary=dialect seeds=(fixtures/*/) ;;
    *)
      binary=dialect
      seeds=("fixtures/$target")
      export MILLPOND_DIALECT=$target
      ;;
  esac
  mkdir -p "fuzz/corpus/$target" "fuzz/artifacts"
  log=fuzz/artifacts/$target.log
  if cargo +nightly fuzz run -O -a "$binary" "fuzz/corpus/$target" "${seeds[@]}" -- \
    -max_total_time="$seconds" -max_len=16384 -timeout=20 -rss_limit_mb=2048 \
    -artifact_prefix="fuzz/artifacts/$target-" -print_final_stats=1 >"$log" 2>&1; then
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    echo "$target: $runs executions in $seconds s, no crash"
  else
    echo "$target: crashed; see $log" >&2
    exit 1
  fi
  unset MILLPOND_DIALECT
done
