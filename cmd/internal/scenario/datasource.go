package scenario

import (
	"fmt"
	"strings"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/store"
)

// snapshotOf is the claim that stands for its snapshot in a data source: name: pvc/data. What the snapshots of a
// group are called, the snapshot controller makes up.
func snapshotOf(source *corev1.TypedLocalObjectReference) (claim string, ok bool) {
	if source == nil || source.Kind != "VolumeSnapshot" {
		return "", false
	}
	return strings.CutPrefix(source.Name, "pvc/")
}

// withSource is the object with the name of the snapshot for which a claim stands in its data source.
func withSource(s *store.Store, obj store.Object) (store.Object, error) {
	claim, ok := obj.(*corev1.PersistentVolumeClaim)
	if !ok {
		return obj, nil
	}
	of, ok := snapshotOf(claim.Spec.DataSource)
	if !ok {
		return obj, nil
	}
	namespace := orDefault(claim.Namespace)
	for found := range store.List[*snapshotv1.VolumeSnapshot](s, namespace) {
		if from := found.Spec.Source.PersistentVolumeClaimName; from != nil && *from == of {
			claim = claim.DeepCopy()
			claim.Spec.DataSource.Name = found.Name
			return claim, nil
		}
	}
	return nil, &Failure{
		Verdict: verdict.Plain(fmt.Sprintf("claim %s has no snapshot yet", of)), Expected: "a snapshot of it", Got: "none",
		Hint: "wait for it first: {volumesnapshot: pvc/" + of + ", that: object.status.readyToUse}",
	}
}
