package scenario

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/sim/store"
)

func init() {
	register("detach", "Detaches a volume at the driver itself, as somebody at the storage system would: Kubernetes does not notice.",
		`detach: {pvc: data, node: node-a}`, &detachStep{})
}

// detachStep detaches a volume behind the back of Kubernetes.
type detachStep struct {
	Claim     string `json:"pvc" want:"required" example:"data" doc:"The claim of the volume."`
	Namespace string `json:"namespace,omitempty" default:"default" doc:"The claim's namespace."`
	Node      string `json:"node" want:"required" example:"node-a" doc:"The node that it is detached from."`
}

func (s *detachStep) claim() store.Key {
	return store.Key{Namespace: cmp.Or(s.Namespace, corev1.NamespaceDefault), Name: s.Claim}
}

func (s *detachStep) check(c *checker) {
	if s.Claim != "" && !c.made.isGenerated("persistentvolumeclaims", s.claim()) {
		c.madeBefore("pvc", "persistentvolumeclaims", s.claim())
	}
	if s.Node != "" {
		c.node("node", s.Node)
	}
}

func (s *detachStep) do(r *runner) error {
	claim, ok := store.Get[*corev1.PersistentVolumeClaim](r.store(), s.claim())
	if !ok {
		return &Failure{Verdict: fmt.Sprintf("pvc %s not found", s.Claim), Expected: "pvc " + s.Claim, Got: "no such object"}
	}
	pv, ok := store.Get[*corev1.PersistentVolume](r.store(), store.Key{Name: claim.Spec.VolumeName})
	if !ok {
		return &Failure{Verdict: fmt.Sprintf("pvc %s has no volume", s.Claim), Expected: "a bound claim", Got: "phase " + string(claim.Status.Phase)}
	}
	return r.cluster.Detach(pv, s.Node)
}
