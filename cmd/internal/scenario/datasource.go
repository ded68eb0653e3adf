package scenario

import (
	"fmt"
	"strings"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/store"
)

// snapshotOf returns the claim that identifies a snapshot in a data source: name: pvc/data. The
// snapshot controller generates the names of the snapshots in a group, so a scenario cannot name
// them.
func snapshotOf(source *corev1.TypedLocalObjectReference) (claim string, ok bool) {
	if source == nil || source.Kind != "VolumeSnapshot" {
		return "", false
	}
	return strings.CutPrefix(source.Name, "pvc/")
}

// withSource replaces a claim's name in the data source of an object by the name of its snapshot.
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
