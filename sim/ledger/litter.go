package ledger

import (
	"fmt"

	"github.com/csisim/csisim/sim/trace"
)

// last is the newer of what made an entry and of the call that should have undone it.
func (e *Entry) last() *Deed {
	if e.Undone != nil {
		return e.Undone
	}
	return e.Made
}

// kubeletsLitter says so when the kubelet died before it had all taken away: after
// a restart it finds only volumes that a pod's directory shows. K-RECON-1, K-RECON-2
func (h *History) kubeletsLitter(e *Entry, place Place) {
	if e.SaidToBeGone() && !place.Kubelet {
		return // the driver said that it was gone
	}
	death := h.died(e.last(), func(f *trace.Event) bool {
		return f.Node == e.Node && (f.Message == "kubelet killed" || f.Message == "power lost")
	})
	if death != nil {
		e.Litter = fmt.Sprintf("the kubelet's own litter: %s at %s, and a kubelet that starts does not find it again", death.Message, seconds(death.At))
	}
}

// litterOf says so when a controller died before it had it taken away.
func (h *History) litterOf(e *Entry, who string) {
	if e.Litter != "" || e.SaidToBeGone() {
		return
	}
	if death := h.died(e.last(), func(f *trace.Event) bool { return f.Message == who+" killed" }); death != nil {
		e.Litter = fmt.Sprintf("Kubernetes' own litter: %s at %s, and it does not know of it when it starts again", death.Message, seconds(death.At))
	}
}
