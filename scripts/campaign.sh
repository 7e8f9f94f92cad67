#!/usr/bin/env bash
# The long campaigns, each too slow for every day.
#   scripts/campaign.sh cuts            every cut of every stream in the corpus, read from its start
#   scripts/campaign.sh fuzz [SECONDS]  every fuzz target for so long (300 by default)
#   scripts/campaign.sh mutants         mutants of the filter, the framing and the run machine
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in
  cuts)
    MILLPOND_EVERY_CUT=1 cargo test --release -p millpond-engine --test it -- \
      --nocapture corpus::every_cut_of_every_stream
    ;;
  fuzz) fuzz/run.sh "${2:-300}" ;;
  mutants)
    cargo mutants --package millpond-engine --jobs "${JOBS:-2}" --timeout 120 \
      --file 'crates/engine/src/ingest/filter.rs' --file 'crates/engine/src/ingest/filter/*.rs' \
      --file 'crates/engine/src/ingest/frame.rs' --file 'crates/engine/src/ingest/frame/*.rs' \
      --file 'crates/engine/src/run.rs' --file 'crates/engine/src/run/*.rs' \
      -- --all-features --lib --test it -- --skip corpus::
    ;;
  *)
    sed -n '2,5s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
