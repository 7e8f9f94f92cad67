#!/usr/bin/env bash
# Installs the real agents that run.sh drives, next to this file (1.6 GB).
set -euo pipefail
cd "$(dirname "$0")"
npm ci --no-audit --no-fund --loglevel=error
