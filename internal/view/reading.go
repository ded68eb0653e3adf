package view

import (
	"path"
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/trace"
)

// perChunk is the number of events in a chunk.
const perChunk = 2048

// reading makes rows from the lines of a trace, in order.
type reading struct {
	narrator *trace.Narrator
	strings  *places[string]
	lanes    *places[string]
	paths    *places[string]
	objects  *places[key]
	laneOf   map[actor]int
	volumes  *volumes
	now      map[key]object
	series   map[attempt]tried
	story    *story
	between  between
	drivers  []string // drivers with their versions, in the order of their answers
	versions trace.Versions

	rows     []row // of the chunk
	perChunk int
	events   int
	end      int64        // the time of the last event, in ms
	unknown  []trace.Kind // kinds that this version does not know
}

// actor determines the name of a lane.
type actor struct {
	cluster, from, node string
	kind                trace.Kind
}

// attempt identifies a call and its retries.
type attempt struct{ caller, method, volume, node, path string }

// tried is the first of a series of attempts.
type tried struct {
	first  int // its number in the trace
	failed bool
}

func newReading() reading {
	v := newVolumes()
	return reading{
		narrator: trace.NewNarrator(v.pods), strings: newPlaces[string](), lanes: newPlaces[string](), paths: newPlaces[string](), objects: newPlaces[key](),
		laneOf: map[actor]int{}, volumes: v, now: map[key]object{}, series: map[attempt]tried{}, story: &story{}, perChunk: perChunk,
	}
}

// add adds an event.
func (x *reading) add(f *facts) {
	l := &f.Line
	x.events++
	x.end = max(x.end, l.T)
	if !kinds[l.K] && !slices.Contains(x.unknown, l.K) && len(x.unknown) < mentioned {
		x.unknown = append(x.unknown, l.K)
	}
	if l.Seq == 0 { // recordings of real clusters have no numbers
		l.Seq = uint64(x.events)
	}
	r := row{at: uint64(max(l.T, 0)), seq: l.Seq, cause: l.Cause, kind: x.strings.at(string(l.K)), code: atText(x.strings, l.Code), took: l.Ms}
	var about object
	if l.K == trace.API {
		about = x.change(&r, f)
	}
	where := pathOf(f)
	r.volume = x.volumes.of(f, about)
	r.method, r.path, r.node = atText(x.strings, methodOf(l)), atText(x.paths, where), atText(x.strings, x.volumes.nodeOf(f))
	if l.K == trace.Call {
		x.narrator.Called(l.Driver)
		if f.driver != "" && !slices.Contains(x.drivers, f.driver) && len(x.drivers) < mentioned {
			x.drivers = append(x.drivers, f.driver)
		}
		if pod := x.volumes.pod(where); pod != "" {
			r.object = x.objects.at(key{"pods", within(l, pod)})
		}
		r.first = x.attempts(f, where)
	}
	if l.K == trace.KubeEvent {
		of := subject(l.Name)
		of.name = within(l, of.name)
		r.object = x.objects.at(of)
	}
	x.story.add(l, where, r.volume)
	r.flags = flagsOf(f)
	r.lane = x.lane(l)
	x.rows = append(x.rows, r)
}

// state adds a state of size bytes. If a checkpoint is due, the chunk begins with it.
func (x *reading) state(f *facts, size int) (checkpoint []byte) {
	if f.K == trace.MadeWith {
		x.versions = f.versions
	}
	return x.between.add(f, size)
}

func (x *reading) lane(l *trace.Line) int {
	who := actor{l.Cluster, l.From, l.Node, l.K}
	place, known := x.laneOf[who]
	if !known {
		place = x.lanes.at(trace.LaneOf(l))
		x.laneOf[who] = place
	}
	return place
}

// change records the change of an object. It returns the object after the change, or before it if
// the object was deleted.
func (x *reading) change(r *row, f *facts) object {
	l := &f.Line
	at := keyOf(l)
	r.object = x.objects.at(at)
	o := x.now[at]
	switch l.Ev {
	case "DELETED":
		delete(x.now, at)
		return o
	case "MODIFIED":
		before := o
		if o = o.revised(f.revision); before.text(ready[1:]) == "True" && o.text(ready[1:]) != "True" {
			l.Patch = anything // it is no longer ready
		}
	default:
		o = f.revision.object
	}
	x.now[at] = o
	x.volumes.learn(l.R, l.Name, o)
	s := stateOf(l.R, o)
	r.state, r.info, r.stateTone = atText(x.strings, s.word), atText(x.strings, s.info), int(s.tone)
	return o
}

// attempts returns the number of events since the first attempt of a call; 0 for the first attempt.
func (x *reading) attempts(f *facts, where string) int {
	id := f.volume
	if id == "" {
		id = f.callSubject.name
	}
	at := attempt{f.From, f.M, id, within(&f.Line, f.Line.Node) + f.callSubject.node, where}
	before, again := x.series[at]
	if id == "" || !again || !before.failed {
		x.series[at] = tried{x.events, f.Code != ""}
		return 0
	}
	x.series[at] = tried{before.first, f.Code != ""}
	return x.events - before.first
}

// cut ends a chunk. It returns its columns and the names that they add.
func (x *reading) cut() ([]byte, error) {
	names := added{
		Events: len(x.rows), Waits: x.between.cut(), Strings: x.strings.take(), Lanes: x.lanes.take(), Paths: x.paths.take(), Volumes: x.volumes.take(),
	}
	for _, k := range x.objects.take() {
		names.Objects = append(names.Objects, [2]string{k.resource, k.name})
	}
	text, err := stretch(names, x.rows)
	x.rows = x.rows[:0]
	return text, err
}

// methodOf returns the call, the change or the emitted event.
func methodOf(l *trace.Line) string {
	if l.K == trace.API {
		return l.Ev
	}
	return l.M
}

// pathOf returns the path of an event on its node. For a step it returns the title, which lanes
// show.
func pathOf(f *facts) string {
	switch f.K {
	case trace.Step:
		return f.Msg
	case trace.FileChange, trace.SystemCall, trace.Request, trace.Unmounted:
		return f.Line.Name
	}
	return f.path
}

// flagsOf returns a row's tone and flags.
func flagsOf(f *facts) int {
	strikes, isQuiet := trace.Glance(&f.Line)
	flags := int(toneIn[strikes])
	if isQuiet || f.K == trace.API && routine[f.R] || f.K == trace.Call && f.Code == "" && f.Inj == "" && isAsking(path.Base(f.M)) {
		flags |= flagQuiet
	}
	if f.Inj != "" {
		flags |= flagInjected
	}
	if f.K == trace.Call && !f.isAnswered && f.Code == "" {
		flags |= flagOpen
	}
	if f.K == trace.Violation {
		if v, judged := verdict.OfEvent(f.Obj, f.Msg); judged && v.Form == contract.NoEffect {
			flags |= flagNoEffect
		}
	}
	return flags
}

// toneIn maps the tones of a timeline.
var toneIn = map[string]tone{"quiet": quiet, "strong": strong, "warning": waiting, "failure": bad}

// routine are the resources for the operation of the cluster, independent of volumes.
var routine = map[string]bool{
	"customresourcedefinitions": true, "serviceaccounts": true, "configmaps": true, "endpoints": true, "endpointslices": true, "controllerrevisions": true,
}

// isAsking reports whether a call only reads. Such calls are frequent and repeat the same answer.
func isAsking(method string) bool {
	return strings.HasSuffix(method, "Capabilities") || strings.HasPrefix(method, "List") || strings.HasPrefix(method, "Get") ||
		method == "Probe" || method == "NodeGetVolumeStats" || method == "ControllerGetVolume"
}
