package check

import (
	"fmt"
	"slices"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/world/lazyregexp"
	"github.com/csisim/csisim/internal/world/trace"
)

// Shared is evidence that a driver stores its volumes outside of the run. Parallel trials then see
// and disturb each other's objects.
type Shared struct {
	What   string // of one trial: "volume vol-1"
	Of, In string // the trial that created it, and the trial that got it
	Again  int    // number of trials that failed while others ran, and were repeated
}

func (s *Shared) String() string {
	return fmt.Sprintf("%s of %s is seen in %s: the driver keeps its volumes outside of the run, and scenarios that run at once disturb each other", s.What, s.Of, s.In)
}

// meeting finds objects of one trial that another one gets.
type meeting struct {
	made map[string]thing // by id, or by the name that csi-provisioner gives a volume
	seen []sight
}

type thing struct{ what, trial string }

// sight is an object that a trial received but did not create.
type sight struct{ id, trial string }

// volumeName is a name that csi-provisioner or csi-snapshotter derives from the uid of a claim or
// snapshot, so it is unique among trials.
var volumeName = lazyregexp.New(`\b(?:pvc|snapshot|groupsnapshot)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)

// enter records the objects that a trial has created and seen. If two trials share an object, it
// returns that object.
func (m *meeting) enter(trial string, r *scenario.Result) *Shared {
	if m.made == nil {
		m.made = map[string]thing{}
	}
	own := madeIn(r)
	for id, what := range own {
		if other, known := m.made[id]; known && other.trial != trial {
			what = "" // ids that occur in every run are no evidence
		}
		m.made[id] = thing{what, trial}
	}
	for _, id := range seenIn(r) {
		if _, mine := own[id]; !mine {
			m.seen = append(m.seen, sight{id, trial})
		}
	}
	for _, s := range m.seen {
		if of, known := m.made[s.id]; known && of.what != "" && of.trial != s.trial {
			return &Shared{What: of.what, Of: of.trial, In: s.trial}
		}
	}
	return nil
}

// madeIn returns the volumes and snapshots that a run has created, by id and by name.
func madeIn(r *scenario.Result) map[string]string {
	made := map[string]string{}
	add := func(what, id string) {
		if id != "" {
			made[id] = what + " " + id
		}
	}
	for _, e := range r.Trace {
		switch answer := e.Response.(type) {
		case *csi.CreateVolumeResponse:
			add("volume", answer.GetVolume().GetVolumeId())
		case *csi.CreateSnapshotResponse:
			add("snapshot", answer.GetSnapshot().GetSnapshotId())
		}
		switch request := e.Request.(type) {
		case *csi.CreateVolumeRequest:
			add("volume", request.GetName())
		case *csi.CreateSnapshotRequest:
			add("snapshot", request.GetName())
		case *csi.CreateVolumeGroupSnapshotRequest:
			add("group snapshot", request.GetName())
		}
	}
	return made
}

// seenIn returns the volumes and snapshots in a driver's lists and errors of a run.
func seenIn(r *scenario.Result) []string {
	seen := slices.Clone(r.Listed)
	for _, e := range r.Trace {
		if list, ok := e.Response.(*csi.ListVolumesResponse); ok {
			for _, entry := range list.GetEntries() {
				seen = append(seen, entry.GetVolume().GetVolumeId())
			}
		}
		if e.Kind == trace.Call && e.Code != "" {
			seen = append(seen, volumeName().FindAllString(e.Message, -1)...)
		}
	}
	slices.Sort(seen)
	return slices.Compact(seen)
}
