#!/usr/bin/env bash
# check.sh: the step of the action that checks the driver. It takes the inputs of the action from
# DRIVER, ARGS, KNOWN and CSISIM, writes the files below csisim-report, the job summary and the
# outputs, and ends with the exit code of csisim check.
set -uo pipefail
csisim=${CSISIM:-$RUNNER_TEMP/csisim-bin/csisim}
report="csisim-report"
mkdir -p "$report"

known=()
if [ -n "${KNOWN:-}" ]; then known=(--known "$KNOWN"); fi
# As root, so that volumes are mounted for real; as the user where there is no sudo.
as=()
if [ "$(id -u)" != 0 ] && command -v sudo > /dev/null; then
	as=(sudo "--preserve-env=GITHUB_ACTIONS,GITHUB_WORKSPACE" env "PATH=$PATH")
fi
# ARGS and DRIVER are words of a command line.
# shellcheck disable=SC2086
"${as[@]}" "$csisim" check "${known[@]}" --junit "$report/junit.xml" --json "$report/card.json" \
	--summary "$report/summary.md" --report "$report" ${ARGS:-} -- $DRIVER
code=$?
if [ ${#as[@]} -gt 0 ]; then sudo chown -R "$(id -u):$(id -g)" "$report"; fi

case $code in
0) result=passed ;;
1) result=failed ;;
3) result=untried ;;
*) result=error ;;
esac
findings=0
if [ -s "$report/card.json" ]; then
	findings=$(jq '[.findings[] | select(.known | not)] | length' "$report/card.json")
elif [ "$result" = untried ]; then
	result=error # it ended before the first scenario
fi
{
	echo "result=$result"
	echo "findings=$findings"
	echo "junit=$report/junit.xml"
	echo "card=$report/card.json"
	echo "report=$report"
} >> "$GITHUB_OUTPUT"
if [ -s "$report/summary.md" ]; then cat "$report/summary.md" >> "$GITHUB_STEP_SUMMARY"; fi
exit $code
