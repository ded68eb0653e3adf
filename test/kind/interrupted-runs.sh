#!/bin/bash
# Runs scenarios, one after the other, on a kept kind cluster, ends some of the runs at a random moment with SIGINT or SIGKILL, and
# compares containers, images, networks, kubeconfig, mounts and processes of the host, and what is on the cluster and its nodes, with
# what was there before: after each run that was ended, and at the end.
#   interrupted-runs.sh CSISIM CLUSTER SCENARIO...    RUNS=50 ENDED=10 SEED=1 WORK_DIR=...
# It takes docker, kind, kubectl and CLUSTER, a kind cluster that --keep has left. WORK_DIR is the --work-dir of the run that made it.
set -uo pipefail
set -m # else bash has what it starts in the background ignore SIGINT
csisim=$1 cluster=$2
shift 2
scenarios=("$@")
runs=${RUNS:-50} ended=${ENDED:-10} RANDOM=${SEED:-1}
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
work_dir=${WORK_DIR:-$work/runs}
mkdir -p "$work_dir"
flags=(--on "kind:$cluster" --work-dir "$work_dir")

# marked runs a command whose descendants are known by their environment, wherever they end up.
marked() { CSISIM_INTERRUPTED_RUNS=$work exec "$@"; }

# state prints what a run must leave as it was. Other kind clusters may come and go meanwhile.
state() {
  echo "containers:" && docker ps -a --format '{{.Names}} {{.State}} {{.Label "io.x-k8s.kind.cluster"}}' | awk -v c="$cluster" '$3 == "" || $3 == c' | sort
  echo "images:" && docker images --no-trunc --format '{{.Repository}}:{{.Tag}} {{.ID}}' | sort
  echo "networks:" && docker network ls --no-trunc --format '{{.Name}} {{.ID}}' | sort
  echo "kubeconfig:" && cat "${KUBECONFIG:-$HOME/.kube/config}" 2>/dev/null | sha256sum
  echo "mounts:" && awk '{print $5}' /proc/self/mountinfo | grep -v -e '/overlay2/[^/]*/merged$' -e '/netns/[^/]*$' | sort # containers are compared above
  echo "processes:" && grep -lsz "^CSISIM_INTERRUPTED_RUNS=$work$" /proc/[0-9]*/environ | while read -r e; do tr '\0' ' ' < "${e%environ}cmdline"; echo; done | sort
  echo "files:" && ls -A "$work_dir"
  echo "objects:" && kubectl --kubeconfig "$work/kubeconfig" get all,pvc,pv,volumeattachments,storageclasses,csidrivers,csistoragecapacities,namespaces,configmaps,secrets,serviceaccounts,clusterroles,clusterrolebindings -A \
    -o custom-columns=KIND:.kind,IN:.metadata.namespace,NAME:.metadata.name --no-headers | sort
  kubectl --kubeconfig "$work/kubeconfig" get nodes,csinodes -o jsonpath='{range .items[*]}{.kind} {.metadata.name} {.metadata.labels} {.spec.taints} {.spec.drivers}{"\n"}{end}'
  for node in $(docker ps -a --filter "label=io.x-k8s.kind.cluster=$cluster" --format '{{.Names}}' | sort); do
    echo "$node: kubelet $(docker exec "$node" systemctl is-active kubelet)"
    docker exec "$node" sh -c 'awk "\$5 ~ \"kubernetes.io.csi/\" {print \$5}" /proc/self/mountinfo | sort
      ctr -n k8s.io images ls -q | sort
      ls -A /var/lib/kubelet/plugins /var/lib/kubelet/plugins_registry
      ls -A /var/lib/csisim-shared /var/lib/csisim/records' 2>/dev/null
    docker exec "$node" pgrep -a csisim | cut -d' ' -f2- | sort
  done
}

# settled waits for namespaces and pods that are on their way out.
settled() {
  for _ in $(seq 60); do
    kubectl --kubeconfig "$work/kubeconfig" get namespaces,pods -A -o jsonpath='{.items[*].metadata.deletionTimestamp}' | grep -q . || return 0
    sleep 1
  done
  echo "what is on its way out did not go in 60 s"
}

# same compares the state with that before.
same() {
  settled && state > "$work/after"
  diff "$work/before" "$work/after" || { echo "$1: the state differs from that before"; failed=1; }
}

failed=0
(marked "$csisim" run "${scenarios[@]}" "${flags[@]}" --keep > "$work/out" 2>&1) || { tail -20 "$work/out"; echo "the first run did not pass"; exit 3; }
kind get kubeconfig --name "$cluster" > "$work/kubeconfig"
settled && state > "$work/before"
interrupted=0
for n in $(seq "$runs"); do
  scenario=${scenarios[(n - 1) % ${#scenarios[@]}]} began=$SECONDS
  marked "$csisim" run "$scenario" "${flags[@]}" --keep > "$work/out" 2>&1 &
  pid=$!
  if (( RANDOM % (runs - n + 1) >= ended )); then
    wait "$pid"; code=$?
    echo "run $n, $(basename "$scenario"): exit code $code after $((SECONDS - began)) s"
    [ "$code" = 0 ] || { tail -20 "$work/out"; failed=1; }
    continue
  fi
  ended=$((ended - 1)) signal=INT after=$((RANDOM % 20)).$((RANDOM % 10))
  (( RANDOM % 2 )) && signal=KILL
  sleep "$after"
  kill -"$signal" "$pid" 2>/dev/null && how="SIG$signal after $after s" && interrupted=$((interrupted + 1)) || how="it was over before $after s"
  wait "$pid"; code=$?
  echo "run $n, $(basename "$scenario"): $how, exit code $code after $((SECONDS - began)) s"
  if [ "$signal" = KILL ]; then
    (marked "$csisim" clean "${flags[@]}" > "$work/clean" 2>&1) || { cat "$work/clean"; echo "clean after run $n failed"; failed=1; }
    "$csisim" clean --work-dir "$work_dir" > /dev/null # what it left on this machine
  fi
  same "run $n"
done 2> >(grep -v -e Killed -e Interrupt >&2)
same "the end"
[ "$failed" = 0 ] && echo "$runs runs, $interrupted of them interrupted: everything is as before"
exit $failed
