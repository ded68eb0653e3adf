package scenario

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/sim/expect"
)

// volumeOf returns the claim that another claim's volumeName refers to: pvc/data, pvc/team-a/data.
// The name of a provisioned volume is not known when a scenario is written.
func volumeOf(claim *corev1.PersistentVolumeClaimSpec) (of string, ok bool) {
	return strings.CutPrefix(claim.VolumeName, "pvc/")
}

// withVolume replaces the reference to another claim in an object by the name of the claim's
// volume.
func withVolume(ev *expect.Evidence, obj store.Object) (store.Object, error) {
	claim, ok := obj.(*corev1.PersistentVolumeClaim)
	if !ok {
		return obj, nil
	}
	of, ok := volumeOf(&claim.Spec)
	if !ok {
		return obj, nil
	}
	volumes, err := expect.Kinds{}.Reference("pv/" + claim.Spec.VolumeName)
	if err != nil {
		return nil, fmt.Errorf("the volume of claim %s: %w", of, err)
	}
	found := ev.Find(volumes)
	if len(found) != 1 {
		return nil, &Failure{
			Verdict: verdict.Plain(fmt.Sprintf("claim %s has no volume", of)), Expected: "one volume that is bound to it, or was", Got: fmt.Sprint(len(found)),
			Hint: "wait for it first: {pvc: " + of + ", phase: Bound}",
		}
	}
	claim = claim.DeepCopy()
	claim.Spec.VolumeName = found[0].GetName()
	return claim, nil
}
