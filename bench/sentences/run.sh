#!/usr/bin/env bash
# Accuracy of the sentence splitter beside pysbd, sentencex and syntok on public test sets.
#   bench/sentences/run.sh FOLDER [--only SPLITTER] [--errors]
# FOLDER holds, at any depth: *.conllu (Universal Dependencies), *.java (LanguageTool's tests of its
# sentence tokenizers), segmenter_test.py (syntok).
set -euo pipefail
folder=$(realpath "${1:?folder of test sets}")
shift
cd "$(dirname "$0")"
(cd ../.. && cargo build -q --release -p millpond-engine --example sentences)
if [ ! -x .venv/bin/python ]; then
  python3 -m venv .venv
fi
.venv/bin/pip install -q -r requirements.txt
export PYTHONDONTWRITEBYTECODE=1
exec .venv/bin/python measure.py ../../target/release/examples/sentences "$folder" "$@"
