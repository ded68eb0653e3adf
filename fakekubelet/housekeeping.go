package fakekubelet

import (
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/internal/world/kernel"
)

// housekeepingPeriod is the period of the search for remains of pods. K-ORPH-1
const housekeepingPeriod = 2 * time.Second

// housekeeping cleans up after pods that the kubelet no longer manages: pods with ended workers,
// and pods that an earlier kubelet left on the node.
type housekeeping struct {
	*Kubelet
	process *kernel.Process
	suspect map[types.UID]bool // pods that may have left something behind
	passed  bool               // there has been a pass since the pods of the node were listed
}

func (k *Kubelet) startHousekeeping() {
	h := &housekeeping{Kubelet: k, suspect: map[types.UID]bool{}}
	k.housekeeping = h
	h.process = k.Go("housekeeping", func(p *kernel.Process) {
		// A pod that ends at the time of a pass keeps its directory until the next one.
		tick := p.TickEarly(housekeepingPeriod)
		for _, uid := range slices.Concat(k.csi.PodsOnDisk(), k.options.Runtime.Pods()) {
			h.lookAt(uid)
		}
		h.rest(tick)
	})
}

// rest waits for the next pass.
func (h *housekeeping) rest(tick *kernel.Ticker) {
	tick.Rest("the end of pods", func(*kernel.Process) {
		h.pass()
		h.rest(tick)
	})
}

// lookAt makes the next pass check a pod for remains.
func (h *housekeeping) lookAt(uid types.UID) {
	h.suspect[uid] = true
	h.process.Wake()
}

func (h *housekeeping) pass() {
	if h.pods.listed && !h.passed {
		h.passed = true
		for _, w := range h.pods.inOrder() {
			// No other process waits for the pod, and a wake-up would replace the cause of the next
			// call.
			if w.rejected.reason != "" {
				w.process.Wake()
			}
		}
	}
	for _, uid := range slices.Sorted(maps.Keys(h.suspect)) {
		if h.clean(uid) {
			delete(h.suspect, uid)
		}
	}
}

// clean stops the containers of a pod that is not managed. It removes the pod's directory when
// nothing in it is mounted. It reports whether no further pass is needed. K-POD-8, K-ORPH-1,
// K-ORPH-2
func (h *housekeeping) clean(uid types.UID) bool {
	if !h.pods.listed {
		return false
	}
	if h.pods.workers[uid] != nil {
		return true // the pod returns to this list when its worker ends
	}
	h.stopContainers(uid)
	if h.volumes.PossiblyMounted(uid) {
		return false
	}
	h.csi.RemovePodDir(uid)
	return true
}
