package persistentvolume

import (
	"cmp"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// resyncForEver queues the open claims, then the open volumes, every 15 s. C-PV-1
func (c *Controller) resyncForEver(p *kernel.Process) {
	start := p.Elapsed()
	var resync func(*kernel.Process)
	resync = func(p *kernel.Process) {
		for len(c.openClaims)+len(c.openVolumes) > 0 {
			p.Idle(untilNext(p.Elapsed()-start, ResyncPeriod))
			c.requeueOpen()
		}
		p.Rest("claims or volumes that are not settled", resync)
	}
	resync(p)
}

func (c *Controller) requeueOpen() {
	for _, key := range sorted(c.openClaims) {
		c.claimKeys.Add(key)
		if pvc, ok := c.claims.Get(key); !ok || claimSettled(pvc) {
			delete(c.openClaims, key) // the claim was open only because of its volume
		}
	}
	for _, key := range sorted(c.openVolumes) {
		c.volumeKeys.Add(key)
	}
}

// untilNext returns the time until the next multiple of a period.
func untilNext(elapsed, period time.Duration) time.Duration { return period - elapsed%period }

func mark(open map[store.Key]bool, key store.Key, isOpen bool, resync *kernel.Process) {
	if !isOpen {
		delete(open, key)
		return
	}
	open[key] = true
	if len(open) == 1 {
		resync.Wake()
	}
}

func claimSettled(claim *corev1.PersistentVolumeClaim) bool {
	return fullyBound(claim) && claim.Status.Phase == corev1.ClaimBound
}

// pointsElsewhere reports whether a volume no longer points to the same claim. That claim may be
// Lost now, and only the next resync notices it.
func pointsElsewhere(before, now *corev1.ObjectReference) bool {
	return before != nil && before.UID != "" && (now == nil || now.UID != before.UID)
}

// volumeSettled reports whether a resync would change nothing for a volume. Claims themselves
// search for available volumes, but each resync retries recycling.
func volumeSettled(pv *corev1.PersistentVolume) bool {
	switch pv.Status.Phase {
	case corev1.VolumeAvailable, corev1.VolumeBound:
		return true
	case corev1.VolumeReleased, corev1.VolumeFailed:
		return pv.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimRecycle
	}
	return false
}

func sorted(keys map[store.Key]bool) []store.Key {
	return slices.SortedFunc(maps.Keys(keys), func(a, b store.Key) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
}
