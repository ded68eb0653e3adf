package live

import (
	"bytes"
	"slices"
	"strings"
	"sync"

	"github.com/csisim/csisim/internal/input/calls"
	"github.com/csisim/csisim/internal/view"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/sim"
)

// lookout follows a live cluster for the page. When a browser polls, lookout encodes the new events
// as chunks.
type lookout struct {
	cluster *sim.Simulation
	name    string

	asking  sync.Mutex // one browser at a time
	epoch   int        // counts the restarts from scratch
	encoder *view.Encoder
	chunks  []view.Chunk
	events  int
	seen    uint64         // Seq of the last event that was encoded
	open    []*trace.Event // calls without an answer at that time
}

// mostEvents bounds the events in the page of a live cluster. If there are more, the page starts
// again with the newest events.
const mostEvents = 50_000

func newLookout(c *sim.Simulation, name string) *lookout { return &lookout{cluster: c, name: name} }

// news is the part of the trace that a page does not have yet.
type news struct {
	// Epoch distinguishes chunks that do not belong together. A page drops its chunks of another
	// epoch.
	Epoch  int          `json:"epoch"`
	Chunks []view.Chunk `json:"chunks"`
	Now    int64        `json:"now"` // ms of virtual time
	Mounts []pageMount  `json:"mounts"`
}

// pageMount is a mount on a node.
type pageMount struct {
	Node   string `json:"node"`
	Target string `json:"target"`
	Source string `json:"source"`
}

// page returns the page without any events.
func (l *lookout) page() ([]byte, error) {
	var text bytes.Buffer
	err := view.Live(&text, view.Report{
		Name: l.name, Verdict: "live", Sentence: "A live cluster",
		Facts: [][2]string{{"Cluster", l.name}, {"Kubernetes", l.cluster.World.Version.String()}},
	})
	return text.Bytes(), err
}

// since returns the news for a page that has received the given number of chunks of an epoch. The
// cluster pauses only while gather collects the events, since complete events do not change.
func (l *lookout) since(epoch, chunks int) (n news, err error) {
	l.asking.Lock()
	defer l.asking.Unlock()
	var fresh []*trace.Event
	l.cluster.Exclusively(func() {
		fresh = l.gather()
		n.Now, n.Mounts = l.cluster.World.Kernel.Elapsed().Milliseconds(), l.mounts()
	})
	for _, e := range fresh {
		l.encoder.Sink(e)
	}
	made, err := l.encoder.Chunks()
	if err != nil {
		return n, err
	}
	l.chunks = append(l.chunks, made...)
	if epoch != l.epoch || chunks > len(l.chunks) {
		chunks = 0
	}
	n.Epoch, n.Chunks = l.epoch, append([]view.Chunk{}, l.chunks[max(chunks, 0):]...)
	return n, nil
}

// gather collects the events since the last poll, and the answers to calls that were open at the
// last poll.
func (l *lookout) gather() []*trace.Event {
	states, whole := l.cluster.World.Trace.TakeStates()
	events := l.cluster.World.Trace.Events()
	from := l.firstAfter(events)
	forgotten := from < len(events) && events[from].Seq != l.seen+1
	var fresh []*trace.Event
	if l.encoder == nil || forgotten || !whole || l.events > mostEvents {
		fresh, from = l.begin(events)
		states = nil
	}
	l.open = slices.DeleteFunc(l.open, func(e *trace.Event) bool {
		answered := calls.Answered(e)
		if answered {
			fresh = append(fresh, e)
		}
		return answered
	})
	for _, e := range trace.Merged(events[from:], states) {
		fresh = append(fresh, l.settled(e))
		if !e.Kind.IsState() {
			l.seen = e.Seq
		}
	}
	l.events += len(fresh)
	return fresh
}

// settled returns an event that does not change any more. For a call without an answer, this is a
// copy in its present state.
func (l *lookout) settled(e *trace.Event) *trace.Event {
	if e.Kind != trace.Call || calls.Answered(e) {
		return e
	}
	l.open = append(l.open, e)
	now, exchange := *e, *e.Exchange
	now.Exchange = &exchange
	return &now
}

func (l *lookout) firstAfter(events []*trace.Event) int {
	at, _ := slices.BinarySearchFunc(events, l.seen+1, func(e *trace.Event, seq uint64) int { return int(int64(e.Seq) - int64(seq)) })
	return at
}

// begin starts a new epoch with all events if the recorder still has them. Otherwise it starts with
// the current objects and the recorded calls and other events.
func (l *lookout) begin(events []*trace.Event) (fresh []*trace.Event, from int) {
	l.epoch++
	l.cluster.FollowStates(view.MaxStates)
	l.encoder, l.chunks, l.open, l.events, l.seen = view.NewEncoder(), nil, nil, 0, 0
	if len(events) == 0 || events[0].Seq == 1 && isWhole(events) && len(events) <= mostEvents {
		return nil, 0
	}
	const kept = mostEvents / 10
	recent := events[max(0, len(events)-kept):]
	fresh = l.objects(recent[0])
	for _, e := range recent {
		if e.Kind != trace.API {
			fresh = append(fresh, l.settled(e))
		}
	}
	l.seen = events[len(events)-1].Seq
	return fresh, len(events)
}

func isWhole(events []*trace.Event) bool { return events[len(events)-1].Seq == uint64(len(events)) }

// objects returns the current objects as events before the given one.
func (l *lookout) objects(before *trace.Event) (all []*trace.Event) {
	s := l.cluster.World.Store
	for _, res := range s.Resources() {
		if res.GVR.Resource == "events" || res.GVR.Resource == "leases" {
			continue
		}
		for obj := range s.ListObjects(res, "") {
			all = append(all, trace.Entry{
				Seq: before.Seq, At: before.At, Kind: trace.API, Change: "INIT", Resource: res.GVR.Resource, Name: store.KeyOf(obj).String(), New: obj,
			}.Event())
		}
	}
	return all
}

// mounts returns the mounts below the kubelets' directories.
func (l *lookout) mounts() []pageMount {
	found := []pageMount{}
	for _, node := range l.cluster.Nodes() {
		mounts, err := l.cluster.Mounts(node)
		if err != nil {
			found = append(found, pageMount{Node: node, Target: err.Error()})
		}
		for _, m := range mounts {
			if strings.HasPrefix(m.Target, l.cluster.KubeletDir()+"/") {
				found = append(found, pageMount{Node: node, Target: m.Target, Source: m.Source + strings.TrimSuffix(m.Root, "/")})
			}
		}
	}
	return found
}
