package trace

import (
	"fmt"
	"strconv"
	"strings"
)

// scenarioLane is the lane of the user.
const scenarioLane = "scenario"

// laneOf returns the component that acted and, in a run with several clusters, its cluster.
func laneOf(e *Event) string {
	if e.Cluster != "" {
		return e.Cluster + inCluster + laneWithin(e)
	}
	return laneWithin(e)
}

// inCluster separates a cluster and its component.
const inCluster = ": "

// laneWithin returns the component that acted. The actor of an API change is the name of a process:
// component/node/part or component/part.
func laneWithin(e *Event) string {
	component, rest, _ := strings.Cut(e.Actor, "/")
	if e.Kind == KubeEvent {
		component = sidecarOf(component)
	}
	if known, ok := controllerNames[component]; ok {
		component = known
	}
	switch {
	case component == "" && e.Node == "":
		return scenarioLane
	case component == "":
		return e.Node
	case e.Node != "":
		return component + " " + e.Node
	case onNodes[component] && rest != "":
		node, _, _ := strings.Cut(rest, "/")
		return component + " " + node
	default:
		return component + replicaOf(component, rest)
	}
}

// replicaOf returns the number of a sidecar's replica; empty if there is only one.
func replicaOf(component, rest string) string {
	if !strings.HasPrefix(component, "csi-") {
		return ""
	}
	for part := range strings.SplitSeq(rest, "/") {
		if n, err := strconv.Atoi(part); err == nil {
			return fmt.Sprintf(" #%d", n)
		}
	}
	return ""
}

// controllerNames are the usual names of controllers, by their names in events and processes.
var controllerNames = map[string]string{
	"attachdetach-controller":     "attach/detach controller",
	"persistentvolume-controller": "PV controller",
	"node-controller":             "node lifecycle controller",
	"volume_expand":               "expand controller",
	"ephemeral_volume":            "ephemeral controller",
	"pvc-protection-controller":   "PVC protection controller",
	"pv-protection-controller":    "PV protection controller",
	"vac-protection-controller":   "VAC protection controller",
	"pod-garbage-collector":       "pod garbage collector",
	"generic-garbage-collector":   "garbage collector",
	"daemonset-controller":        "DaemonSet controller",
	"statefulset-controller":      "StatefulSet controller",
	"replicaset-controller":       "ReplicaSet controller",
	"deployment-controller":       "Deployment controller",
	"resourcequota-controller":    "resource quota controller",
	"namespace-controller":        "namespace controller",
	"serviceaccount-controller":   "service account controller",
}

// sidecarOf finds the sidecar in an event's source: "external-resizer <driver>" is csi-resizer,
// "<driver>_<host>_<id>" is csi-provisioner.
func sidecarOf(source string) string {
	name, _, _ := strings.Cut(source, " ")
	if kind, ok := strings.CutPrefix(name, "external-"); ok {
		return "csi-" + kind
	}
	if strings.Count(source, "_") > 1 {
		return "csi-provisioner"
	}
	return source
}

// onNodes are the components that run on every node.
var onNodes = map[string]bool{"kubelet": true, "registrar": true, "node-driver-registrar": true, "driver": true}

// laneEscape returns the colour of a lane: the user, kubelets, sidecars, drivers, controllers.
func laneEscape(lane string) string {
	if _, within, ok := strings.Cut(lane, inCluster); ok {
		lane = within
	}
	component, _, _ := strings.Cut(lane, " ")
	switch {
	case lane == scenarioLane:
		return "1"
	case component == "kubelet":
		return "32"
	case strings.HasPrefix(component, "csi-"), strings.HasSuffix(component, "registrar"):
		return "36"
	case component == "driver":
		return "33"
	default:
		return "34"
	}
}
