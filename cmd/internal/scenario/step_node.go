package scenario

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/store"
)

func init() {
	register("cordon", "Marks a node as unschedulable.", `cordon: node-a`, cordonStep(""))
	register("uncordon", "Marks a node as schedulable.", `uncordon: node-a`, uncordonStep(""))
	register("taint", "Puts a taint on a node, or changes it.",
		`taint: {node: node-a, key: node.kubernetes.io/out-of-service, effect: NoExecute}`, &taintStep{})
	register("untaint", "Removes a taint from a node.",
		`untaint: {node: node-a, key: node.kubernetes.io/out-of-service}`, &untaintStep{})
}

// The value of these steps is the name of a node.
type (
	cordonStep   string
	uncordonStep string
)

func (cordonStep) Wanted() string   { return wantNode }
func (uncordonStep) Wanted() string { return wantNode }

func (s cordonStep) check(c *checker)   { c.node("", string(s)) }
func (s uncordonStep) check(c *checker) { c.node("", string(s)) }

func (s cordonStep) do(r *runner) error {
	return r.changeNode(string(s), func(n *corev1.Node) { n.Spec.Unschedulable = true })
}

func (s uncordonStep) do(r *runner) error {
	return r.changeNode(string(s), func(n *corev1.Node) { n.Spec.Unschedulable = false })
}

func (r *runner) changeNode(name string, change func(*corev1.Node)) error {
	node, err := store.ResourceOf(&corev1.Node{})
	if err != nil {
		return err
	}
	return r.cluster.Modify(node, store.Key{Name: name}, "", func(obj store.Object) error {
		change(obj.(*corev1.Node))
		return nil
	})
}

// taintStep puts a taint on a node.
type taintStep struct {
	Node string `json:"node" want:"required" example:"node-a" doc:"The node."`
	Taint
}

func (s *taintStep) check(c *checker) {
	c.node("node", s.Node)
	c.checkTaint(s.Taint)
}

func (s *taintStep) do(r *runner) error {
	return r.changeNode(s.Node, func(n *corev1.Node) {
		n.Spec.Taints = append(without(n.Spec.Taints, s.Key, s.Effect), s.taint())
	})
}

// untaintStep removes taints from a node.
type untaintStep struct {
	Node   string `json:"node" want:"required" example:"node-a" doc:"The node."`
	Key    string `json:"key" want:"required" example:"maintenance" doc:"The taint's key."`
	Effect string `json:"effect,omitempty" enum:"NoSchedule|PreferNoSchedule|NoExecute" doc:"Only the taint of this effect; default any."`
}

func (s *untaintStep) check(c *checker) { c.node("node", s.Node) }

func (s *untaintStep) do(r *runner) error {
	return r.changeNode(s.Node, func(n *corev1.Node) { n.Spec.Taints = without(n.Spec.Taints, s.Key, s.Effect) })
}

// without returns the taints except those with a key and, unless it is empty, an effect.
func without(taints []corev1.Taint, key, effect string) []corev1.Taint {
	return slices.DeleteFunc(slices.Clone(taints), func(t corev1.Taint) bool {
		return t.Key == key && (effect == "" || string(t.Effect) == effect)
	})
}
