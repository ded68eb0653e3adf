package scenario

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/store"
)

func init() {
	register("volume-condition", "Makes a volume of the reference driver abnormal, or healthy again. Its answers about the volume's condition change accordingly.",
		`volume-condition: {pvc: data, abnormal: the disk is on fire}`, &volumeConditionStep{})
}

// volumeConditionStep changes the condition that the reference driver reports for a volume.
type volumeConditionStep struct {
	Claim     string `json:"pvc" want:"required" example:"data" doc:"The claim of the volume."`
	Namespace string `json:"namespace,omitempty" default:"default" doc:"The claim's namespace."`
	Abnormal  string `json:"abnormal,omitempty" example:"the disk is on fire" doc:"The reported problem; without it the volume is healthy again."`
}

func (s *volumeConditionStep) claim() store.Key {
	return store.Key{Namespace: cmp.Or(s.Namespace, corev1.NamespaceDefault), Name: s.Claim}
}

func (s *volumeConditionStep) check(c *checker) {
	if s.Claim != "" && !c.made.isGenerated("persistentvolumeclaims", s.claim()) {
		c.madeBefore("pvc", "persistentvolumeclaims", s.claim())
	}
}

func (s *volumeConditionStep) do(r *runner) error {
	pv, err := r.volumeOf(s.claim())
	if err != nil {
		return err
	}
	return r.cluster.SetVolumeCondition(pv, s.Abnormal)
}
