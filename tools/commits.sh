#!/usr/bin/env bash
# commits.sh BASE: check the messages of the commits since BASE, as CONTRIBUTING.md describes them.
set -euo pipefail
status=0
complain() {
	echo "$(git log -1 --format=%h "$1") $2: $(git log -1 --format=%s "$1")"
	status=1
}
for commit in $(git rev-list --no-merges "$1..HEAD"); do
	subject=$(git log -1 --format=%s "$commit")
	body=$(git log -1 --format=%b "$commit")
	[ "${#subject}" -le 72 ] || complain "$commit" "subject has ${#subject} characters, more than 72"
	grep -qE '^[a-z][a-zA-Z0-9/, -]*: [^ ]' <<<"$subject" || complain "$commit" "subject is not 'package: summary'"
	[[ "$subject" != *. ]] || complain "$commit" "subject ends with a full stop"
	[ -n "$body" ] || complain "$commit" "body is missing: say why"
	if grep -v '://' <<<"$body" | grep -qE '^.{73,}$'; then complain "$commit" "body has lines over 72 characters"; fi
done
exit $status
