package calls

import (
	"maps"
	"slices"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/trace"
)

// listing follows the attachments in the answers of ListVolumes.
type listing struct {
	promised map[string]bool // the drivers that list the nodes
	turn     uint64          // counts begins and ends of calls
	began    map[*trace.Event]uint64
}

// listBegan notes the start of a list. A later page may be as old as the first one.
func (w *Watch) listBegan(call *trace.Event, r *csi.ListVolumesRequest) {
	if w.listing.promised[call.Driver] && r.GetStartingToken() == "" {
		w.listing.turn++
		w.listing.began[call] = w.listing.turn
	}
}

// attachedFor records that a driver itself has reported a volume as attached. It ignores uncertain
// attachments, for example after a detach call was lost, because that call may still take effect.
func (w *Watch) attachedFor(call *trace.Event, v *state, node string) {
	w.listing.turn++
	if was := v.attached[node]; call.Code != "" || call.Injected != "" || was == maybe || was == leaving {
		delete(v.since, node)
		return
	}
	if v.since == nil {
		v.since = map[string]uint64{}
	}
	v.since[node] = w.listing.turn
}

// listed looks for nodes that are missing in a volume's list: the volume was attached there before
// the list was requested, and no call has begun to detach it.
func (w *Watch) listed(call *trace.Event) {
	began, asked := w.listing.began[call]
	delete(w.listing.began, call)
	answer, ok := call.Response.(*csi.ListVolumesResponse)
	if !asked || !ok || call.Code != "" || call.Injected != "" {
		return
	}
	listed := map[string]bool{}
	for _, entry := range answer.GetEntries() {
		id := entry.GetVolume().GetVolumeId()
		listed[id] = true
		w.nodesOf(call, id, entry.GetStatus().GetPublishedNodeIds(), began)
	}
	if answer.GetNextToken() != "" {
		return // other volumes may be on the next pages
	}
	for _, id := range w.missingFrom(call.Driver, listed) {
		w.nodesOf(call, id, nil, began)
	}
}

// nodesOf compares the nodes of a volume in a list to the nodes to which it was attached before the
// list began.
func (w *Watch) nodesOf(call *trace.Event, id string, listed []string, began uint64) {
	v := w.volumes[key{call.Driver, id}]
	if v == nil {
		return
	}
	for _, node := range slices.Sorted(maps.Keys(v.since)) {
		if v.since[node] < began && !slices.Contains(listed, node) {
			delete(v.since, node) // once is enough
			w.OnBreach(call, contract.Broken(call.Method, contract.LeavesOutNode, verdict.Say(
				"volume %s is attached to node %s, from which it was not detached", id, node)))
		}
	}
}

// missingFrom returns the attached volumes that the driver has created and that are missing in its
// list.
func (w *Watch) missingFrom(driver string, listed map[string]bool) (ids []string) {
	for k, v := range w.volumes { // any order: they are sorted
		if k.driver == driver && v.handed != nil && v.handed.made && len(v.since) > 0 && !listed[k.id] {
			ids = append(ids, k.id)
		}
	}
	slices.Sort(ids)
	return ids
}

// Detached notes that a volume was detached at the driver itself, without Kubernetes.
func (w *Watch) Detached(driver, handle, node string) { delete(w.of(driver, handle).since, node) }
