#!/usr/bin/env bash
# compared.sh BASE: print the modules that compile code of Kubernetes, if a change since BASE concerns
# them. On BASE itself, and without history, it prints them.
set -euo pipefail
cd "$(dirname "$0")/.."
compared=(go.mod internal/api internal/world/definition internal/world/workload test/oracle test/e2emock)

base=$(git merge-base "$1" HEAD 2>/dev/null || true)
if [ -z "$base" ] || [ "$base" = "$(git rev-parse HEAD)" ] || ! git diff --quiet "$base" -- "${compared[@]}" ||
	[ -n "$(git ls-files -o --exclude-standard -- "${compared[@]}")" ]; then
	echo test/oracle test/e2emock
fi
