#!/usr/bin/env bash
# compared.sh BASE: print the modules with code of Kubernetes that a change since BASE concerns. On
# BASE itself, it looks at the last commit; without history, it prints all of them.
set -euo pipefail
cd "$(dirname "$0")/.."
base=$(git merge-base "$1" HEAD 2>/dev/null || true)
[ "$base" != "$(git rev-parse HEAD 2>/dev/null)" ] || base=$(git rev-parse --verify --quiet HEAD~1 || true)

# changed reports whether a file in one of the folders has changed.
changed() {
	[ -z "$base" ] || ! git diff --quiet "$base" -- "$@" || [ -n "$(git ls-files -o --exclude-standard -- "$@")" ]
}
if changed go.mod internal/api internal/world/definition internal/world/workload test/oracle; then echo test/oracle; fi
if changed go.mod test/e2emock; then echo test/e2emock; fi
