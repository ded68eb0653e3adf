package scenario

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/store"
)

func init() {
	register("detach", "Detaches a volume in the storage system itself, like an administrator of that system: Kubernetes does not notice.",
		`detach: {pvc: data, node: node-a}`, &detachStep{})
}

// detachStep detaches a volume without Kubernetes.
type detachStep struct {
	Claim     string `json:"pvc" want:"required" example:"data" doc:"The claim of the volume."`
	Namespace string `json:"namespace,omitempty" default:"default" doc:"The claim's namespace."`
	Node      string `json:"node" want:"required" example:"node-a" doc:"The node from which it is detached."`
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
	pv, err := r.volumeOf(s.claim())
	if err != nil {
		return err
	}
	return r.cluster.Detach(pv, s.Node)
}

// volumeOf returns the volume of a bound claim.
func (r *runner) volumeOf(key store.Key) (*corev1.PersistentVolume, error) {
	claim, ok := store.Get[*corev1.PersistentVolumeClaim](r.store(), key)
	if !ok {
		return nil, &Failure{Verdict: verdict.Plain(fmt.Sprintf("pvc %s not found", key.Name)), Expected: "pvc " + key.Name, Got: "no such object"}
	}
	pv, ok := store.Get[*corev1.PersistentVolume](r.store(), store.Key{Name: claim.Spec.VolumeName})
	if !ok {
		return nil, &Failure{Verdict: verdict.Plain(fmt.Sprintf("pvc %s has no volume", key.Name)), Expected: "a bound claim", Got: "phase " + string(claim.Status.Phase)}
	}
	return pv, nil
}
