#!/usr/bin/env bash
# Installs the real agents that run.sh drives, next to this file (1.6 GB).
set -euo pipefail
cd "$(dirname "$0")"
# Not `npm ci`: that refuses a lock file without parts for other systems, which some registries lack.
npm install --no-save --no-audit --no-fund --loglevel=error
