package blame

import (
	"maps"
	"slices"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"

	patterns "github.com/csisim/csisim/internal/input/calls"
	"github.com/csisim/csisim/internal/judge/calls"
	"github.com/csisim/csisim/internal/judge/ledger"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/trace"
)

// Refusal returns the last call that a driver itself refused and has not performed since; nil if
// there is none. If an object should have been deleted, only calls that undo something count.
func Refusal(events []*trace.Event, gone bool) *trace.Event {
	done := map[string]bool{} // methods that succeeded later
	down := callsWhileDown(events)
	for _, e := range slices.Backward(events) {
		switch {
		case e.Kind != trace.Call || patterns.IsAsking(e), down[e]:
		case e.Code == "":
			done[e.Method] = true
		case gone && ledger.Makes(e):
		case e.Injected == "" && !done[e.Method] && !mayNotAttach(events, e) && !mayNotStage(events, e):
			return e
		}
	}
	return nil
}

// callsWhileDown returns the calls to drivers that a fault had killed and that had not restarted.
// The driver did not refuse these calls. If one program serves the controller and a node, a fault
// kills it at either of them, and it restarts at its node.
func callsWhileDown(events []*trace.Event) map[*trace.Event]bool {
	type place struct{ cluster, driver, node string }
	down, calls := map[place]string{}, map[*trace.Event]bool{} // the name of the plugin
	for _, e := range events {
		at := place{e.Cluster, e.Driver, e.Node}
		switch e.Kind {
		case trace.Call:
			if down[at] != "" {
				calls[e] = true
			}
		case trace.FaultFired:
			t, is := e.Detail.(trace.Transition)
			if !is || t.Part != trace.Plugin {
				continue
			}
			maps.DeleteFunc(down, func(at place, name string) bool { return name == t.Name && at.cluster == e.Cluster })
			if at.driver = t.Driver; t.Verb == trace.Killed {
				down[at] = t.Name
			}
		}
	}
	return calls
}

// mayNotAttach reports whether a driver had to refuse a call because the volume was attached
// elsewhere. A later detachment does not matter, because the driver may not get another call before
// a wait ends.
func mayNotAttach(events []*trace.Event, call *trace.Event) bool {
	if call.Code != codes.FailedPrecondition.String() {
		return false
	}
	before, ignore := calls.New(), func(*trace.Event, verdict.Verdict) {}
	before.OnBreach, before.OnDisorder = ignore, ignore
	before.InUse = func(_, _, _ string) bool { return true }
	for _, e := range events {
		if e == call {
			break
		}
		if e.Kind == trace.Call {
			before.Began(e)
			before.Ended(e)
		}
	}
	return before.IsElsewhere(call)
}

// mayNotStage reports whether a driver received a call to stage a volume that is staged at another
// path of the node, for example by a kubelet of another version. The driver may refuse it, because
// a volume is staged at one path at a time.
func mayNotStage(events []*trace.Event, call *trace.Event) bool {
	asked, is := call.Request.(*csi.NodeStageVolumeRequest)
	if !is {
		return false
	}
	at := ""
	for _, e := range events {
		if e == call {
			break
		}
		if e.Cluster != call.Cluster || e.Driver != call.Driver || e.Node != call.Node {
			continue
		}
		switch r := e.Request.(type) {
		case *csi.NodeStageVolumeRequest:
			// The driver may have staged it.
			if r.GetVolumeId() == asked.GetVolumeId() && (e.Code == "" || e.Injected != "") {
				at = r.GetStagingTargetPath()
			}
		case *csi.NodeUnstageVolumeRequest:
			if r.GetVolumeId() == asked.GetVolumeId() && e.Code == "" {
				at = ""
			}
		}
	}
	return at != "" && at != asked.GetStagingTargetPath()
}
