package scenario

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/store"
)

// withHandle replaces a reference in a PersistentVolume's volumeHandle, such as west/pvc/data. The
// new values are the handle and attributes of that claim's volume in another cluster. The name of a
// provisioned volume is not known when a scenario is written.
func (r *runner) withHandle(obj store.Object) (store.Object, error) {
	pv, ok := obj.(*corev1.PersistentVolume)
	if !ok || pv.Spec.CSI == nil {
		return obj, nil
	}
	cluster, of, ok := strings.Cut(pv.Spec.CSI.VolumeHandle, "/pvc/")
	at := slices.IndexFunc(r.sites, func(s site) bool { return s.name == cluster })
	if !ok || cluster == "" || at < 0 {
		return obj, nil
	}
	s := r.sites[at].evidence.Store
	claim, ok := store.Get[*corev1.PersistentVolumeClaim](s, store.Key{Namespace: "default", Name: of})
	var volume *corev1.PersistentVolume
	if ok {
		volume, ok = store.Get[*corev1.PersistentVolume](s, store.Key{Name: claim.Spec.VolumeName})
	}
	if !ok || volume.Spec.CSI == nil {
		return nil, &Failure{
			Verdict: verdict.Plain(fmt.Sprintf("claim %s has no volume in %s", of, cluster)), Expected: "a volume that is bound to it", Got: "none",
			Hint: fmt.Sprintf("wait for it first: {in: %s, wait: {pvc: %s, phase: Bound}}", cluster, of),
		}
	}
	pv = pv.DeepCopy()
	pv.Spec.CSI.VolumeHandle, pv.Spec.CSI.VolumeAttributes = volume.Spec.CSI.VolumeHandle, volume.Spec.CSI.VolumeAttributes
	return pv, nil
}
