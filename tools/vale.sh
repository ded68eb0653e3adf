#!/usr/bin/env bash
# Checks the sentences of files and folders by the style in .vale. Without a network or a C compiler
# vale cannot be built; that is said, and is no failure.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! ${GO:-go} build -modfile=tools/go.mod -o bin/vale github.com/vale-cli/vale/v3/cmd/vale; then
	echo "vale cannot be built here: sentences are not checked" >&2
	exit 0
fi
exec bin/vale --output=line --glob='*.{go,md}' --minAlertLevel=error "$@"
