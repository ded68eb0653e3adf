package diff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/world/trace"
)

// healthEvents are the events of the tolerance NodeHealth.
var healthEvents = map[string]bool{
	"NodeHasSufficientMemory": true, "NodeHasNoDiskPressure": true, "NodeHasSufficientPID": true, "NodeAllocatableEnforced": true, "CgroupV1": true,
}

func (s *side) event(l trace.Line) {
	about := s.names.in(l.Name)
	message := s.text(l.Msg)
	e := &event{at: l.T, about: about, source: s.names.source(l.From), kind: l.R, reason: l.M, message: message}
	switch {
	case healthEvents[l.M]:
		s.allow(NodeHealth, "")
		return
	case l.M == "RegisteredNode" && !s.added(object{"nodes", about[strings.Index(about, "/")+1:]}):
		s.allow(Setup, "")
		return
	case l.M == "VolumeFailedDelete" && strings.Contains(message, "is still attached to node"):
		s.allow(StillAttached, "")
		return
	case s.uncounted(e):
	default:
		if count, ok := field(l.Obj, "count").(float64); ok {
			if count == 1 && l.From == "default-scheduler" {
				s.allow(SchedulerEvents, "")
				count = 0
			}
			e.counted = fmt.Sprintf("×%v", count)
		}
	}
	s.events = append(s.events, e)
}

// added reports whether an object was created after the first step.
func (s *side) added(o object) bool {
	return slices.ContainsFunc(s.changes, func(c *change) bool { return c.object == o && c.how == "ADDED" })
}

// uncounted reports whether an event is repeated at random: the tolerance EventCounts.
func (s *side) uncounted(e *event) bool {
	return e.reason == "ExternalProvisioning" || e.reason == "NodeReady" ||
		e.reason == "FailedScheduling" && strings.Contains(e.message, "unbound immediate PersistentVolumeClaims")
}

func (e *event) String() string {
	return strings.Join(strings.Fields(e.kind+" "+e.reason+" "+e.counted), " ") + ": " + e.message
}

// emitter is the object and the source of an event.
type emitter struct{ about, source string }

func (s *side) emitted(abridged bool) map[emitter][]*event {
	all := map[emitter][]*event{}
	for _, e := range s.events {
		if abridged && outOfRepeats[e.reason] {
			s.allow(Abridged, "")
			continue
		}
		by := emitter{e.about, e.source}
		earlier := all[by]
		if s.uncounted(e) && slices.ContainsFunc(earlier, func(before *event) bool { return before.String() == e.String() }) {
			s.allow(EventCounts, "")
			continue
		}
		all[by] = append(earlier, e)
	}
	return all
}

// compareEvents compares the events about each object, by source, and the gaps between repeated
// ones.
func (d *comparison) compareEvents() {
	a, b := d.a.emitted(d.b.abridged && !d.a.abridged), d.b.emitted(d.a.abridged && !d.b.abridged)
	for _, by := range union(a, b, func(x, y emitter) int {
		return strings.Compare(x.about+"\x00"+x.source, y.about+"\x00"+y.source)
	}) {
		d.compareEmitted(by, a[by], b[by])
	}
}

func (d *comparison) compareEmitted(by emitter, a, b []*event) {
	rows := align(len(a), len(b), costs{
		pair: func(i, j int) float64 {
			switch {
			case a[i].String() == b[j].String():
				return 0
			case a[i].reason == b[j].reason:
				return 1.5
			default:
				return 9
			}
		},
		onlyA: constant(1), onlyB: constant(1),
	})
	shown := sideBySide(rows, a, b, func(e *event) Cell { return Cell{e.at, e.String()} })
	subject := by.about + ", by " + by.source
	for i, row := range rows {
		switch {
		case row.b < 0:
			d.differ(Events, subject, a[row.a].reason+" is only in A", shown, i)
		case row.a < 0:
			d.differ(Events, subject, b[row.b].reason+" is only in B", shown, i)
		case shown[i].Same:
			d.compared(Events)
		default:
			d.compared(Events)
			d.differ(Events, subject, a[row.a].reason+" differs", shown, i)
		}
	}
	d.compareRepeats(subject, rows, a, b)
}
