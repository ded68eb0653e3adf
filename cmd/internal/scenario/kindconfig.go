package scenario

import (
	"fmt"

	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"

	"github.com/csisim/csisim/internal/input/strict"
)

// KindConfig is a configuration of kind: kind.x-k8s.io/v1alpha4. Its apiVersion and kind are
// optional.
type KindConfig struct{ v1alpha4.Cluster }

// UnmarshalStrict reads the configuration like kind, and reports all mistakes with their places.
func (k *KindConfig) UnmarshalStrict(n *strict.Node) { n.Decode(&k.Cluster) }

// JSONSchema leaves the fields to kind.
func (KindConfig) JSONSchema() map[string]any { return map[string]any{"type": "object"} }

// kindVersion is the version of kind's configuration.
const kindVersion = "kind.x-k8s.io/v1alpha4"

// checkKind reports settings that contradict or duplicate the scenario's.
func (c *checker) checkKind() {
	k := c.scenario.Cluster.Kind
	if k == nil {
		return
	}
	if k.APIVersion != "" && k.APIVersion != kindVersion {
		c.report("kind.apiVersion", fmt.Sprintf("%q", k.APIVersion), kindVersion)
	}
	if k.TypeMeta.Kind != "" && k.TypeMeta.Kind != "Cluster" {
		c.report("kind.kind", fmt.Sprintf("%q", k.TypeMeta.Kind), "Cluster")
	}
	if k.Name != "" {
		c.report("kind.name", fmt.Sprintf("name %q", k.Name), "no name: --on kind:NAME gives the cluster's")
	}
	workers := 0
	for i, n := range k.Nodes {
		switch n.Role {
		case "", v1alpha4.ControlPlaneRole:
		case v1alpha4.WorkerRole:
			workers++
		default:
			c.at(strict.Index(c.in("kind.nodes"), i), func() { c.report("role", fmt.Sprintf("role %q", n.Role), "control-plane or worker") })
		}
	}
	if nodes := len(c.nodeNames()); workers > nodes {
		c.report("kind.nodes", fmt.Sprintf("%d workers", workers), fmt.Sprintf("at most %d, the scenario's nodes: the first worker is the first of them", nodes))
	}
}
