package main

import (
	"bytes"
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/input/calls"
	"github.com/csisim/csisim/internal/view"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/sim"
)

// lookout sees a live cluster for the page: it makes chunks of what happens when a browser asks.
type lookout struct {
	cluster *sim.Simulation
	name    string

	epoch   int // counts how often it began anew
	encoder *view.Encoder
	chunks  []view.Chunk
	events  int
	seen    uint64         // Seq of the last event that was encoded
	open    []*trace.Event // calls that had no answer then
}

// mostEvents is how many events the page of a live cluster has at most, before it begins anew with the newest.
const mostEvents = 50_000

func newLookout(c *sim.Simulation, name string) *lookout { return &lookout{cluster: c, name: name} }

// news is what a page does not have yet.
type news struct {
	// Epoch distinguishes chunks that do not go together: a page that has chunks of another drops them.
	Epoch  int          `json:"epoch"`
	Chunks []view.Chunk `json:"chunks"`
	Now    int64        `json:"now"` // ms of virtual time
	Mounts []pageMount  `json:"mounts"`
}

// pageMount is a mount that a node has.
type pageMount struct {
	Node   string `json:"node"`
	Target string `json:"target"`
	Source string `json:"source"`
}

// page is the page without what happened.
func (l *lookout) page() ([]byte, error) {
	var text bytes.Buffer
	err := view.Live(&text, view.Report{
		Name: l.name, Verdict: "live", Sentence: "A live cluster",
		Facts: [][2]string{{"Cluster", l.name}, {"Kubernetes", l.cluster.World.Version.String()}},
	})
	return text.Bytes(), err
}

// since is what is new to a page that has so many chunks of an epoch.
func (l *lookout) since(epoch, chunks int) (n news, err error) {
	l.cluster.Exclusively(func() {
		if err = l.update(); err != nil {
			return
		}
		if epoch != l.epoch || chunks > len(l.chunks) {
			chunks = 0
		}
		n = news{Epoch: l.epoch, Chunks: append([]view.Chunk{}, l.chunks[max(chunks, 0):]...), Now: l.cluster.World.Kernel.Elapsed().Milliseconds(), Mounts: l.mounts()}
	})
	return n, err
}

// update encodes what has happened since the last time.
func (l *lookout) update() error {
	events := l.cluster.World.Trace.Events()
	from := l.firstAfter(events)
	forgotten := from < len(events) && events[from].Seq != l.seen+1
	if l.encoder == nil || forgotten || l.events > mostEvents {
		from = l.begin(events)
	}
	l.open = slices.DeleteFunc(l.open, func(e *trace.Event) bool {
		answered := calls.Answered(e)
		if answered {
			l.encode(e)
		}
		return answered
	})
	for _, e := range events[from:] {
		l.encode(e)
		l.seen = e.Seq
		if e.Kind == trace.Call && !calls.Answered(e) {
			l.open = append(l.open, e)
		}
	}
	fresh, err := l.encoder.Chunks()
	l.chunks = append(l.chunks, fresh...)
	return err
}

func (l *lookout) encode(e *trace.Event) {
	l.encoder.Sink(e)
	l.events++
}

func (l *lookout) firstAfter(events []*trace.Event) int {
	at, _ := slices.BinarySearchFunc(events, l.seen+1, func(e *trace.Event, seq uint64) int { return int(int64(e.Seq) - int64(seq)) })
	return at
}

// begin begins anew, with all events if the recorder still has them; else with the objects as they are, and what is
// kept of calls and the rest.
func (l *lookout) begin(events []*trace.Event) (from int) {
	l.epoch++
	l.encoder, l.chunks, l.open, l.events, l.seen = view.NewEncoder(), nil, nil, 0, 0
	if len(events) == 0 || events[0].Seq == 1 && isWhole(events) && len(events) <= mostEvents {
		return 0
	}
	const kept = mostEvents / 10
	recent := events[max(0, len(events)-kept):]
	l.objects(recent[0])
	for _, e := range recent {
		if e.Kind != trace.API {
			l.encode(e)
			if e.Kind == trace.Call && !calls.Answered(e) {
				l.open = append(l.open, e)
			}
		}
	}
	l.seen = events[len(events)-1].Seq
	return len(events)
}

func isWhole(events []*trace.Event) bool { return events[len(events)-1].Seq == uint64(len(events)) }

// objects encodes the objects that there are, as they stand before an event.
func (l *lookout) objects(before *trace.Event) {
	s := l.cluster.World.Store
	for _, res := range s.Resources() {
		if res.GVR.Resource == "events" || res.GVR.Resource == "leases" {
			continue
		}
		for obj := range s.ListObjects(res, "") {
			l.encode(trace.Entry{
				Seq: before.Seq, At: before.At, Kind: trace.API, Change: "INIT", Resource: res.GVR.Resource, Name: store.KeyOf(obj).String(), New: obj,
			}.Event())
		}
	}
}

// mounts are those below the kubelets' directories.
func (l *lookout) mounts() []pageMount {
	found := []pageMount{}
	for _, node := range l.cluster.Nodes() {
		mounts, err := l.cluster.Mounts(node)
		if err != nil {
			found = append(found, pageMount{Node: node, Target: err.Error()})
		}
		for _, m := range mounts {
			if strings.HasPrefix(m.Target, machine.KubeletDir+"/") {
				found = append(found, pageMount{Node: node, Target: m.Target, Source: m.Source + strings.TrimSuffix(m.Root, "/")})
			}
		}
	}
	return found
}
