#!/usr/bin/env bash
# check.sh BASE: lint and test the packages that changed since BASE, and run a sample of scenarios.
set -euo pipefail
cd "$(dirname "$0")/.."
base=$(git merge-base "$1" HEAD)

# These packages take longer than a minute: make test-fast runs them.
slow='^\./(cmd/csisim|cmd/internal/(check|explore|library|live)|sim)$'

packages=$({ git diff --name-only "$base" -- '*.go'; git ls-files -o --exclude-standard -- '*.go'; } |
	grep -vE '^(test|examples/(inprocess|program|sanity)|tools)/' | xargs -r -n1 dirname | sort -u |
	while read -r dir; do [ -d "$dir" ] && echo "./$dir"; done || true)
fast=$(grep -vE "$slow" <<<"$packages" || true)
left=$(grep -E "$slow" <<<"$packages" || true)

unformatted=$(gofmt -l .)
[ -z "$unformatted" ] || { echo "run gofmt -w on these files:"; echo "$unformatted"; exit 1; }
if [ -n "$packages" ]; then
	go vet $packages
	go tool staticcheck $packages
fi
go test ./internal/construction $fast
bin/csisim run scenarios/golden --only 'lifecycle-*,driver-restart,kubelet-restart,multi-attach' --parallel 2
bin/csisim run scenarios/programs/hostdir-move.yaml
[ -z "$left" ] || echo "not tested, since they take minutes:" $left
