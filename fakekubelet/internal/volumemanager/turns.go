package volumemanager

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/internal/world/kernel"
)

// turns returns the order in which a pass processes the pods of a volume. Each operation locks the
// volume, so only the first one counts. In reality this is random in each pass, so failing mounts
// of one pod cannot block another pod permanently. Here they take turns. An exploring strategy
// chooses the order. K-REC-5, K-RACE-22
func (r *reconciler) turns(w *wanted) []types.UID {
	uids := w.pods.Keys()
	if len(uids) < 2 {
		return uids
	}
	first, found := slices.BinarySearch(uids, w.lastTurn)
	if found {
		first++
	}
	if r.waiting(w) > 1 {
		first += r.kubelet.Kernel.Choose(kernel.Turn, len(uids), "pod of volume "+w.name)
	}
	first %= len(uids)
	return slices.Concat(uids[first:], uids[:first])
}

// waiting counts the pods that need the volume but may not have it.
func (r *reconciler) waiting(w *wanted) (count int) {
	for _, by := range w.pods {
		if held := r.actual.pod(w.name, by.Key); held == nil || held.state != mounted {
			count++
		}
	}
	return count
}
