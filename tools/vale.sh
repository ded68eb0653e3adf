#!/usr/bin/env bash
# Checks the sentences of files and folders by the style in .vale. A machine without vale's modules or
# without a C compiler cannot build it: the message says so, and the sentences are not checked.
set -euo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go} vale=github.com/vale-cli/vale/v3/cmd/vale
if ! "$go" list -modfile=tools/go.mod -deps "$vale" >/dev/null || ! command -v "$("$go" env CC)" >/dev/null; then
	echo "vale cannot be built here: sentences are not checked" >&2
	exit 0
fi
"$go" build -modfile=tools/go.mod -o bin/vale "$vale"
exec bin/vale --output=line --glob='*.{go,md}' --minAlertLevel=error "$@"
