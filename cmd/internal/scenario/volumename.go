package scenario

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/sim/expect"
)

// volumeOf returns the claim that another claim's volumeName refers to: pvc/data, pvc/team-a/data.
// The name of a provisioned volume is not known when a scenario is written.
func volumeOf(claim *corev1.PersistentVolumeClaimSpec) (of string, ok bool) {
	return strings.CutPrefix(claim.VolumeName, "pvc/")
}

// withVolume replaces the reference to another claim in an object by the name of the claim's
// volume: the one that is bound to the claim, or otherwise the last one that was, even if its
// claimRef was removed.
func withVolume(s *store.Store, events []*trace.Event, obj store.Object) (store.Object, error) {
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
	found := volumes.Find(s)
	if len(found) == 0 {
		found = formerVolume(s, events, of)
	}
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

// formerVolume returns the volume that was bound last to a claim and still exists; none if there is
// no such volume.
func formerVolume(s *store.Store, events []*trace.Event, claim string) []store.Object {
	namespace, name, given := strings.Cut(claim, "/")
	if !given {
		namespace, name = metav1.NamespaceDefault, claim
	}
	for _, e := range slices.Backward(events) {
		pv, is := e.New.(*corev1.PersistentVolume)
		if !is || pv.Spec.ClaimRef == nil || pv.Spec.ClaimRef.Namespace != namespace || pv.Spec.ClaimRef.Name != name {
			continue
		}
		if now, exists := store.Get[*corev1.PersistentVolume](s, store.Key{Name: pv.Name}); exists && now.UID == pv.UID {
			return []store.Object{now}
		}
	}
	return nil
}
