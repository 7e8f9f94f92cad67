#!/usr/bin/env bash
# Drives real agents through a gateway against a scripted provider, with loopback as the only network:
# each is asked something, wants to run a command, and is allowed to by an answer through the gateway.
#   MOCK_PROVIDER=mock_provider.py crates/agent/tests/agents/run.sh [AGENT...]
# The provider is a program that serves four APIs on a port and calls one shell tool; its CMD is
# replaced by a command that no agent runs unasked.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../../../.."
provider=$(realpath "${MOCK_PROVIDER:?say where the scripted provider is}")
"$here/install.sh"
cargo build --locked -p millpond
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
sed 's/^CMD=.*/CMD="touch made-by-agent \&\& echo hello-from-tool"/' "$provider" >"$scratch/provider.py"
unshare --net bash -c 'ip link set lo up; exec python3 "$@"' - \
  "$here/drive.py" "$PWD/target/debug/millpond" "$scratch" "$here/node_modules" "$@"
