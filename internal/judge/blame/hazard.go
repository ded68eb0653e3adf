package blame

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/csisim/csisim/internal/world/trace"
)

// Hazard is a known behaviour of real Kubernetes under faults. It delays or prevents an effect, and
// no driver is to blame.
type Hazard struct {
	// Is describes the behaviour, and Rules are references to its sources.
	Is    string
	Rules []string
	// ForGood means that the delayed effect never happens.
	ForGood bool

	befell func(history) bool
}

// history holds the events of a run until its end.
type history struct {
	events []*trace.Event
	end    time.Duration
}

// long is a delay that people notice. Shorter delays have many reasons.
const long = time.Minute

var hazards = []*Hazard{
	{
		Is:     "an attach/detach controller that starts again takes a volume for mounted until its node reports anew, which a node without news does after 2.5 to 7.5 minutes",
		Rules:  []string{"C-ADC-6", "C-ADC-40", "K-ATT-2"},
		befell: func(h history) bool { at, again := h.restarted(); return again && h.detachedLate(at, long) },
	},
	{
		Is:     "a volume of a node that does not say that it has unmounted it is detached by force, after 6 minutes",
		Rules:  []string{"C-ADC-24"},
		befell: func(h history) bool { _, again := h.restarted(); return !again && h.detachedLate(0, 6*time.Minute) },
	},
	{
		Is:     "retries back off: up to 5 minutes between attempts in sidecars, up to 2 minutes in the kubelet and the attach/detach controller",
		Rules:  []string{"C-ATT-3", "C-GEN-6", "K-OP-3"},
		befell: history.backedOff,
	},
	{
		Is:     "if csi-snapshotter misses the deletion of a snapshot, it notices the deletion only at its next resync, up to 15 minutes later",
		Rules:  []string{"C-SNAP-30"},
		befell: history.resynced,
	},
	{
		Is:      "if the kubelet is killed before it removes a vanished driver from its CSINode, it has no record of the driver after the restart, and the entry stays",
		Rules:   []string{"K-REG-20"},
		ForGood: true,
		befell:  history.leftRegistered,
	},
	{
		Is:      "a job of CSI-Addons counts each attempt that fails, is given up after six more than the first, and stays as it has ended",
		Rules:   []string{"A-RS-3", "A-EKR-1"},
		ForGood: true,
		befell:  history.triedAgain,
	},
	{
		Is:      "a NetworkFence is deleted at once, and the driver is not called to unfence its clients",
		Rules:   []string{"A-NF-5"},
		ForGood: true,
		befell:  history.leftFenced,
	},
	{
		Is:      "a sidecar exits when it cannot get to know its driver, or loses it, and is not started again where a scenario says so (restart: never)",
		Rules:   []string{"C-LIB-1", "A-SIDE-3"},
		ForGood: true,
		befell:  history.exited,
	},
}

// Hazards lists the hazards that occurred in a run, given its events and the time of its end.
func Hazards(events []*trace.Event, end time.Duration) []*Hazard {
	return slices.DeleteFunc(slices.Clone(hazards), func(h *Hazard) bool { return !h.befell(history{events, end}) })
}

// restarted returns the time of the last restart of kube-controller-manager, if it was restarted.
func (h history) restarted() (at time.Duration, again bool) {
	for _, e := range slices.Backward(h.events) {
		if e.Is(trace.Controller, trace.Started) && e.Detail.(trace.Transition).Name == "kube-controller-manager" {
			return e.At, true
		}
	}
	return 0, false
}

// detachedLate reports whether an attachment to a node stayed for longer than longest before it was
// deleted. The time counts from the moment when all pods had left the node, but not from before
// since.
func (h history) detachedLate(since, longest time.Duration) bool {
	f := following{pods: map[string]map[string]bool{}, left: map[string]time.Duration{}, attached: map[string]attachment{}}
	late := func(a attachment, at time.Duration) bool {
		return len(f.pods[a.node]) == 0 && a.made <= at-longest && at-max(since, a.made, f.left[a.node]) >= longest
	}
	for _, e := range h.events {
		if e.Kind != trace.API {
			continue
		}
		if e.Resource == "pods" {
			f.pod(e)
		} else if a, goes := f.attachment(e); goes && late(a, e.At) {
			return true
		}
	}
	for _, a := range f.attached { // any order: one is enough
		if late(a, h.end) {
			return true
		}
	}
	return false
}

// following follows pods and attachments through the events of a run.
type following struct {
	pods     map[string]map[string]bool // by node
	left     map[string]time.Duration   // the time at which the last pod left a node
	attached map[string]attachment      // attachments that are not being deleted, by name
}

type attachment struct {
	node string
	made time.Duration
}

func (f *following) pod(e *trace.Event) {
	node := nodeOf(e)
	switch {
	case node == "":
	case e.Change == "DELETED":
		delete(f.pods[node], e.Name)
		f.left[node] = e.At
	case f.pods[node] == nil:
		f.pods[node] = map[string]bool{e.Name: true}
	default:
		f.pods[node][e.Name] = true
	}
}

// attachment returns an attachment that begins to be deleted.
func (f *following) attachment(e *trace.Event) (of attachment, goes bool) {
	if e.Resource != "volumeattachments" {
		return of, false
	}
	of, known := f.attached[e.Name]
	va, is := e.New.(*storagev1.VolumeAttachment)
	switch stays := is && e.Change != "DELETED" && va.DeletionTimestamp == nil; {
	case stays && !known:
		f.attached[e.Name] = attachment{va.Spec.NodeName, e.At}
	case !stays && known:
		delete(f.attached, e.Name)
		return of, true
	}
	return of, false
}

// nodeOf returns the node of a pod that has changed.
func nodeOf(e *trace.Event) string {
	for _, obj := range []any{e.New, e.Old} {
		if pod, is := obj.(*corev1.Pod); is && pod != nil && pod.Spec.NodeName != "" {
			return pod.Spec.NodeName
		}
	}
	return ""
}

// backedOff reports whether a failed call was not repeated for a long time.
func (h history) backedOff() bool {
	type asked struct{ method, node, of string }
	failed := map[asked]time.Duration{}
	for _, e := range h.events {
		if e.Kind != trace.Call {
			continue
		}
		call := asked{method: e.Method, node: e.Node, of: subjectOf(e)}
		if at, has := failed[call]; has && e.At-at >= long {
			return true
		}
		delete(failed, call)
		if e.Code != "" && strings.HasSuffix(e.Method, "Volume") {
			failed[call] = e.At + e.Took
		}
	}
	for _, at := range failed { // any order: one is enough
		if h.end-at >= long {
			return true
		}
	}
	return false
}

// subjectOf returns the id or name of the object of a call.
func subjectOf(e *trace.Event) string {
	switch r := e.Request.(type) {
	case interface{ GetVolumeId() string }:
		return r.GetVolumeId()
	case interface{ GetName() string }:
		return r.GetName()
	}
	return ""
}

// resynced reports whether a snapshot was being deleted long before the driver received
// DeleteSnapshot.
func (h history) resynced() bool {
	leaving := map[string]time.Duration{}
	for _, e := range h.events {
		switch {
		case e.Kind == trace.Call && strings.HasSuffix(e.Method, "/DeleteSnapshot"):
			for _, since := range leaving { // any order: one is enough
				if e.At-since >= long {
					return true
				}
			}
		case e.Kind != trace.API || e.Resource != "volumesnapshotcontents":
		case e.Change == "DELETED":
			delete(leaving, e.Name)
		default:
			content, is := e.New.(metav1.Object)
			if _, knows := leaving[e.Name]; is && !knows && content.GetDeletionTimestamp() != nil {
				leaving[e.Name] = e.At
			}
		}
	}
	return false
}

// triedAgain reports whether a CSI-Addons job ended after more than one attempt.
func (h history) triedAgain() bool {
	return slices.ContainsFunc(h.events, func(e *trace.Event) bool {
		job, is := e.New.(*unstructured.Unstructured)
		if !is || e.Resource != "reclaimspacejobs" && e.Resource != "encryptionkeyrotationjobs" {
			return false
		}
		// None before it has ended.
		result, _, _ := unstructured.NestedString(job.Object, "status", "result")
		retries, _, _ := unstructured.NestedInt64(job.Object, "status", "retries")
		return result != "" && retries > 0
	})
}

// leftFenced reports whether a NetworkFence was deleted before it was unfenced, or without being
// unfenced.
func (h history) leftFenced() bool {
	return slices.ContainsFunc(h.events, func(e *trace.Event) bool {
		fence, is := e.Old.(*unstructured.Unstructured)
		if !is || e.Resource != "networkfences" || e.Change != "DELETED" {
			return false
		}
		wanted, _, _ := unstructured.NestedString(fence.Object, "spec", "fenceState")
		result, _, _ := unstructured.NestedString(fence.Object, "status", "result")
		return wanted == "Fenced" || result == "Failed"
	})
}

// exited reports whether a sidecar has exited for good.
func (h history) exited() bool {
	return slices.ContainsFunc(h.events, func(e *trace.Event) bool {
		return e.Is(trace.Controller, trace.ExitedForGood)
	})
}

// leftRegistered reports whether a registrar ended while the kubelet of its node was down, or just
// before, because the kubelet looks for sockets only once a second. K-REG-6
func (h history) leftRegistered() bool {
	const looks = 2 * time.Second
	type node struct{ cluster, name string }
	down, ended := map[node]bool{}, map[node]time.Duration{}
	for _, e := range h.events {
		if e.Kind != trace.FaultFired {
			continue
		}
		on := node{e.Cluster, e.Node}
		at, has := ended[on]
		switch {
		case e.Is(trace.Registrar, trace.Stopped):
			if down[on] {
				return true
			}
			ended[on] = e.At
		case e.Is(trace.Registrar):
			delete(ended, on)
		case e.Is(trace.Kubelet, trace.Killed), e.Is(trace.Power, trace.Lost):
			if has && e.At-at <= looks {
				return true
			}
			down[on] = true
		case e.Is(trace.Kubelet, trace.Started):
			down[on] = false
		}
	}
	return false
}
