package ledger

import (
	"fmt"
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/world/trace"
)

// last returns the newer of two events: the event that created an entry, and the call that should
// have undone it.
func (e *Entry) last() *StepEvent {
	if e.Undone != nil {
		return e.Undone
	}
	return e.Made
}

// kubeletsLitter marks entries that exist because the kubelet was killed before it had removed
// everything. After a restart it finds only volumes with a pod directory. K-RECON-1, K-RECON-2
func (h *History) kubeletsLitter(e *Entry, place Place) {
	if e.SaidToBeGone() && !place.Kubelet {
		return // the driver had reported its removal
	}
	death := h.died(e.last(), func(f *trace.Event) bool {
		return f.Node == e.Node && (f.Is(trace.Kubelet, trace.Killed) || f.Is(trace.Power, trace.Lost))
	})
	if death != nil {
		e.Litter = fmt.Sprintf("the kubelet's own litter: %s at %s, and a kubelet that starts does not find it again", death.Message, seconds(death.At))
	}
}

// litterOf marks entries that exist because a controller was killed before it had requested the
// removal.
func (h *History) litterOf(e *Entry, who string) {
	if e.Litter != "" || e.SaidToBeGone() {
		return
	}
	if death := h.died(e.last(), func(f *trace.Event) bool {
		return f.Is(trace.Controller, trace.Killed) && f.Detail.(trace.Transition).Name == who
	}); death != nil {
		e.Litter = fmt.Sprintf("Kubernetes' own litter: %s at %s, and it has no record of it after its restart", death.Message, seconds(death.At))
	}
}

// wrappedProbe is the kubelet's message about a mount that failed because of the request for the
// driver's capabilities. That request precedes NodePublishVolume, and an earlier NodePublishVolume
// may have had any outcome.
const wrappedProbe = "mounter.SetUpAt failed to check for STAGE_UNSTAGE_VOLUME capability"

// forgottenPublish marks entries for which the kubelet had no outcome of NodePublishVolume and then
// treated a failed probe as final. The kubelet never unpublishes these volumes, and its own files
// about them remain. K-RACE-23, K-TRACE-8
func (h *History) forgottenPublish(e *Entry, place Place) {
	if e.Litter != "" || e.Undone != nil {
		return
	}
	for _, failure := range h.wrapped {
		publish := h.lastPublish(failure)
		if publish == nil || publish.Seq > failure.Seq || publish.Node != e.Node || !leavesOpen(publish.Code) {
			continue
		}
		if text(publish.Request, "target_path") == place.Target {
			e.Litter = fmt.Sprintf("the kubelet's own litter: at %s it forgot that the volume may be published, as it could not ask the driver anything", seconds(failure.At))
			return
		}
	}
}

// lastPublish returns the last NodePublishVolume for the volume that failed to be mounted.
func (h *History) lastPublish(failure *trace.Event) *trace.Event {
	for _, call := range slices.Backward(h.calls) {
		target := text(call.Request, "target_path")
		volume := DirOf(target).Locate(target).Volume
		if method(call) == "NodePublishVolume" && call.Node == failure.Node && strings.Contains(failure.Message, fmt.Sprintf("for volume %q", volume)) {
			return call
		}
	}
	return nil
}

// leavesOpen reports whether an answer leaves the outcome of a call open. K-RPC-7
func leavesOpen(code string) bool {
	switch code {
	case "Canceled", "DeadlineExceeded", "Unavailable", "ResourceExhausted", "Aborted":
		return true
	}
	return false
}
