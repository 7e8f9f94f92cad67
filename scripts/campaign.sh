#!/usr/bin/env bash
# Long-running test campaigns, too slow for every change.
#   scripts/campaign.sh cuts            cut every stream of the corpus at every position
#   scripts/campaign.sh properties [N]  run every property test with N new random cases (default: 20000)
#   scripts/campaign.sh fuzz [SECONDS]  run every fuzz target for SECONDS (default: 300)
#   scripts/campaign.sh screens         compare browser and terminal with the engine's page, for every fixture and view
#   scripts/campaign.sh judges          run third-party clients on all streams
#   scripts/campaign.sh autobahn        run the Autobahn test suite against the gateway's WebSocket
#   scripts/campaign.sh mutants PART    mutation tests of filter, frames, run, tool, views, markdown or sentences
#   scripts/campaign.sh kills [N]       kill the gateway after each event of a run, and N times at random (default: 2000)
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in
  cuts)
    MILLPOND_EVERY_CUT=1 cargo test --release -p millpond-engine --test it -- \
      --nocapture corpus::every_cut_of_every_stream
    ;;
  kills)
    MILLPOND_KILLS=${2:-2000} cargo test -p millpond --test it -- --nocapture gateway::kills::
    MILLPOND_KILLS=${2:-2000} cargo test -p millpond-log --test it -- --nocapture store::crash::
    ;;
  properties)
    # Without the seed that the quick tests use. A failure prints its smallest input.
    PROPTEST_CASES=${2:-20000} cargo test --workspace --all-features --no-fail-fast
    ;;
  fuzz) fuzz/run.sh "${2:-300}" ;;
  screens)
    SCREENS=all cargo test -p millpond-terminal --test it -- shown_pages::
    (cd web && CHROMIUM=${CHROMIUM:-$(command -v chromium)} SCREENS=all npx playwright test screens)
    ;;
  judges) crates/gateway/tests/judges/run.sh ;;
  autobahn) crates/gateway/tests/autobahn/run.sh ;;
  mutants)
    # Each part runs the tests meant to catch its mutants; optimised, because they cut at every position.
    src=crates/engine/src
    case ${2:-} in
      filter) files=("$src/filter.rs" "$src/filter/*.rs") built=(--lib) tests=(filter::) ;;
      frames) files=("$src/ingest/frame.rs" "$src/ingest/frame/*.rs") built=(--lib) tests=(ingest::) ;;
      run)
        files=("$src/run.rs" "$src/run/**/*.rs") built=(--lib --test=it)
        tests=(run:: rules:: fixtures:: goldens:: control_words:: finishing:: grammar:: traces::
          run_writer:: broken_off:: unfinished:: drafts:: heartbeats:: implied_thoughts:: interleaving::
          open_items:: unfinished_items:: separate_messages:: open_messages::)
        ;;
      tool)
        files=("$src/tool.rs" "$src/tool/*.rs") built=(--lib --test=it)
        tests=(tool:: tool_descriptions:: actions:: goldens::)
        ;;
      markdown)
        files=("$src/markdown.rs" "$src/markdown/*.rs") built=(--lib --test=it)
        tests=(markdown:: filter:: sentence)
        ;;
      views)
        files=("$src/view.rs" "$src/view/**/*.rs" "$src/wire.rs" "$src/wire/**/*.rs") built=(--test=it)
        # Fast tests, about a second in total. Rerun surviving mutants with all tests
        # (SLOW=1 scripts/campaign.sh mutants views --iterate).
        tests=(goldens:: latest:: steps:: bubbles:: transcript:: sentences_view:: protocol:: status::
          images:: thinking:: hiding:: kept_views:: asks::
          --skip how_a_text_was_cut_does_not_move --skip steps_x14_a_long --skip steps_x9_any_log
          --skip steps_x4_every_fixture --skip steps_deeper_than --skip steps_s10_every_fixture
          --skip t7_an_update_costs --skip x3_no_piece --skip every_frame_there_is --skip t2_no_order
          --skip t2_every_fixtures --skip t2_in_every_fixture --skip x14_asks_that_nobody
          --skip x10_every_beginning)
        if [ -n "${SLOW:-}" ]; then
          built=(--lib --test=it)
          tests=(view:: wire:: goldens:: latest:: steps:: bubbles:: transcript:: views:: kept_views::
            views_hostile:: run_writer:: agents:: reply:: hiding:: protocol:: asks:: status:: images:: thinking:: sentences_view::)
        fi
        # Compiling costs more than testing here.
        level=0
        ;;
      sentences) files=("$src/sentence.rs" "$src/sentence/**/*.rs") built=(--lib) tests=(sentence) ;;
      *) exec "$0" ;;
    esac
    export CARGO_PROFILE_DEV_OPT_LEVEL="${level:-1}" CARGO_PROFILE_DEV_DEBUG=0
    # Without optimisation the deepest recursion overflows the default stack.
    export RUST_MIN_STACK=67108864
    cargo mutants --package millpond-engine --jobs "${JOBS:-2}" --timeout "${TIMEOUT:-90}" \
      --all-features "${built[@]/#/--cargo-arg=}" "${@:3}" "${files[@]/#/--file=}" -- -- "${tests[@]}"
    ;;
  *)
    sed -n '2,10s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
