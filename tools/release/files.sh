#!/usr/bin/env bash
# files.sh DIR: write the completions, the man pages and the licences of a release to DIR.
set -euo pipefail
cd "$(dirname "$0")/../.."
dir=$1
rm -rf "$dir"
mkdir -p "$dir/completions" "$dir/man"
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) # the date of the man pages
export SOURCE_DATE_EPOCH
go build -trimpath -ldflags "-s -w" -o "$dir/csisim" ./cmd/csisim
"$dir/csisim" completion bash > "$dir/completions/csisim.bash"
"$dir/csisim" completion zsh > "$dir/completions/_csisim"
"$dir/csisim" completion fish > "$dir/completions/csisim.fish"
go test ./cmd/csisim -count 1 -run TestEachCommandHasAManPage -man "$PWD/$dir/man"
gzip -9n "$dir"/man/*.1
rm "$dir/csisim"
go run ./tools/release/licences/main.go ./cmd/csisim ./drivers/hostdir > "$dir/THIRD_PARTY_LICENSES"
