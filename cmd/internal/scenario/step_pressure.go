package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/sim"
)

func init() {
	register("node-pressure", "Makes a node short of memory or disk: its kubelet evicts one pod after the other until enough is free again.",
		`node-pressure: {node: node-a, memory: 512Mi, usage: {big: 1Gi}}`, &nodePressureStep{})
}

// nodePressureStep makes a node short of a resource.
type nodePressureStep struct {
	Node   string                       `json:"node" want:"required" example:"node-a" doc:"The node."`
	Memory *resource.Quantity           `json:"memory,omitempty" example:"512Mi" doc:"The amount of memory that is missing to reach the kubelet's threshold of 100Mi; 0 ends a shortage."`
	Disk   *resource.Quantity           `json:"disk,omitempty" example:"5Gi" doc:"The amount of disk space that is missing to reach the kubelet's threshold of 10 %; 0 ends a shortage."`
	Usage  map[string]resource.Quantity `json:"usage,omitempty" example:"{big: 1Gi}" doc:"The usage of pods, by name or namespace/name; default the request of the pod, or 10Mi without a request."`
}

func (s *nodePressureStep) check(c *checker) {
	if s.Node != "" {
		c.node("node", s.Node)
	}
	if (s.Memory == nil) == (s.Disk == nil) {
		c.report("", "memory and disk, or none of them", "memory or disk")
	}
	for _, amount := range []struct {
		field string
		q     *resource.Quantity
	}{{"memory", s.Memory}, {"disk", s.Disk}} {
		if amount.q != nil && amount.q.Sign() < 0 {
			c.report(amount.field, amount.q.String(), "an amount from 0")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Usage)) {
		if key := podKey(name); !c.makes("pods", key.Namespace, key.Name) {
			c.unknown("usage."+name, "pod", name, c.made.names("pods", key.Namespace))
		}
	}
}

// podKey reads a pod's name. The name begins with the namespace unless it is the default one.
func podKey(name string) store.Key {
	if namespace, name, found := strings.Cut(name, "/"); found {
		return store.Key{Namespace: namespace, Name: name}
	}
	return store.Key{Namespace: corev1.NamespaceDefault, Name: name}
}

func (s *nodePressureStep) do(r *runner) error {
	cluster, err := r.simulation()
	if err != nil {
		return fmt.Errorf("node-pressure: %w", err)
	}
	shortage := sim.Shortage{Usage: map[store.Key]int64{}}
	for name, used := range s.Usage { // in any order: they become a map
		shortage.Usage[podKey(name)] = used.Value()
	}
	if s.Memory != nil {
		shortage.Missing = s.Memory.Value()
		return cluster.SetShortage(s.Node, corev1.ResourceMemory, shortage)
	}
	shortage.Missing = s.Disk.Value()
	return cluster.SetShortage(s.Node, corev1.ResourceEphemeralStorage, shortage)
}
