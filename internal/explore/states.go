package explore

import (
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/trace"
)

// volumeState is the state of a volume on a node according to the answers of its driver.
type volumeState struct{ attached, staged, published int }

// mostCounted is the count from which repetitions are considered equal.
const mostCounted = 3

// statesOf returns the abstract states that a run has reached, one for each call about a volume. A
// state consists of the call's outcome, the volume's state on that node, the number of repetitions,
// and the components that were killed and restarted before. The names of volumes and the time are
// ignored.
func statesOf(events []*trace.Event) []string {
	s := stateReader{volumes: map[string]volumeState{}, calls: map[string]int{}, seen: map[string]bool{}}
	for _, e := range events {
		switch e.Kind {
		case trace.Call:
			s.call(e)
		case trace.FaultFired:
			s.fault(e)
		}
	}
	return s.states
}

type stateReader struct {
	volumes map[string]volumeState
	calls   map[string]int
	killed  []string // the killed components, in alphabetical order
	who     string   // the same in one word
	seen    map[string]bool
	states  []string
}

// call records a call and the resulting state of its volume.
func (s *stateReader) call(e *trace.Event) {
	volume, ok := e.Request.(interface{ GetVolumeId() string })
	if !ok {
		s.reach(e, volumeState{})
		return
	}
	node := e.Node
	if n, ok := e.Request.(interface{ GetNodeId() string }); ok {
		node = n.GetNodeId()
	}
	at := volume.GetVolumeId() + " on " + node
	state := s.volumes[at]
	if e.Code == "" || e.Code == "OK" {
		state = state.after(path.Base(e.Method))
		s.volumes[at] = state
	}
	s.reach(e, state)
}

// String returns a digit for each count.
func (v volumeState) String() string {
	return string([]byte{'0' + byte(v.attached), '0' + byte(v.staged), '0' + byte(v.published)})
}

func (v volumeState) after(method string) volumeState {
	switch method {
	case "ControllerPublishVolume":
		v.attached = min(v.attached+1, mostCounted)
	case "ControllerUnpublishVolume":
		v.attached = 0
	case "NodeStageVolume":
		v.staged = min(v.staged+1, mostCounted)
	case "NodeUnstageVolume":
		v.staged = 0
	case "NodePublishVolume":
		v.published = min(v.published+1, mostCounted)
	case "NodeUnpublishVolume":
		v.published = max(v.published-1, 0)
	}
	return v
}

func (s *stateReader) reach(e *trace.Event, v volumeState) {
	outcome := e.Method + e.Code
	s.calls[outcome]++
	state := outcome + v.String() + strconv.Itoa(min(s.calls[outcome], mostCounted)) + s.who
	if !s.seen[state] {
		s.seen[state] = true
		s.states = append(s.states, state)
	}
}

// fault records the component that was killed last.
func (s *stateReader) fault(e *trace.Event) {
	t, is := e.Detail.(trace.Transition)
	if !is || t.Verb != trace.Killed && t.Verb != trace.Lost {
		return
	}
	who := t.Name
	if at, before := slices.BinarySearch(s.killed, who); !before {
		s.killed = slices.Insert(s.killed, at, who)
		s.who = strings.Join(s.killed, ",")
	}
}

// lags records the stale views, and the states that a run reaches with them.
type lags struct {
	behind map[string]bool
	seen   map[string]bool
	states []string
}

// take records the progress of a view.
func (l *lags) take(c kernel.Choice, taken int) {
	if l.behind == nil {
		l.behind, l.seen = map[string]bool{}, map[string]bool{}
	}
	switch {
	case c.Kind == kernel.Deliver:
		l.behind[c.Label] = taken > 0
	case c.Kind == kernel.Relist && taken == c.N-1:
		l.reach("relisted " + c.Label)
	}
}

// at records a call or a write with the present views.
func (l *lags) at(c kernel.Choice) {
	what, _, _ := strings.Cut(c.Label, " ")
	for _, view := range slices.Sorted(maps.Keys(l.behind)) {
		if l.behind[view] {
			l.reach(what + " while " + view + " lags")
		}
	}
}

func (l *lags) reach(state string) {
	if !l.seen[state] {
		l.seen[state] = true
		l.states = append(l.states, state)
	}
}
