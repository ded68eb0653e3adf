#!/bin/bash
# Runs scenarios on a kind cluster of its own, which is deleted at the end. Without an engine, or without the image of its nodes, it says
# why it skips.
#   kind-test.sh CSISIM    NODE_IMAGE, RUNS=50 ENDED=10 SEED=1 of interrupted-runs.sh
set -uo pipefail
csisim=$1 here=$(cd "$(dirname "$0")" && pwd) cluster=csisim-test-$$
scenarios=$here/../../scenarios
for tool in kind kubectl docker; do
  command -v $tool >/dev/null || { echo "SKIP: $tool is not in PATH"; exit 0; }
done
docker info >/dev/null 2>&1 || { echo "SKIP: docker does not answer: $(docker info 2>&1 | tail -1)"; exit 0; }
if [ -n "${NODE_IMAGE:-}" ]; then
  docker image inspect "$NODE_IMAGE" >/dev/null 2>&1 || { echo "SKIP: the engine does not have $NODE_IMAGE"; exit 0; }
fi
work=$(mktemp -d)
trap 'kind delete cluster --name "$cluster" 2>/dev/null; "$csisim" clean --work-dir "$work" >/dev/null; rm -rf "$work"' EXIT
on() { "$csisim" run "$@" --on "kind:$cluster" --keep --work-dir "$work" ${NODE_IMAGE:+--node-image "$NODE_IMAGE"}; }

on "$scenarios/rwo-filesystem.yaml" || exit 1
mkdir "$work/ten"
for n in 0 1 2 3 4 5 6 7 8 9; do
  cp "$scenarios/rwo-filesystem.yaml" "$work/ten/lifecycle-$n.yaml"
done
echo "one:" && (time on "$work/ten/lifecycle-0.yaml") || exit 1
echo "ten at once:" && (time on "$work/ten" --parallel 10) || exit 1
WORK_DIR=$work "$here/interrupted-runs.sh" "$csisim" "$cluster" "$scenarios/rwo-filesystem.yaml" "$scenarios/create-errors.yaml"
