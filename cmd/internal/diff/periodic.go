package diff

import (
	"cmp"
	"path"
)

// rounds is the number of rounds of a periodic loop that cannot all be missing in one of two
// traces.
const rounds = 3

// periodicCalls are the periodic calls of a series, by request and response.
type periodicCalls map[string][]*call

// comparePeriodic compares periodic calls. Their times and number depend on the phase of their
// loop, but their existence, requests and responses do not. A call in only one trace is a
// difference if it occurred in three rounds, or if all calls of that trace are equal to it.
func (d *comparison) comparePeriodic() {
	a, b := d.a.periodicCalls(), d.b.periodicCalls()
	for _, on := range union(a, b, func(x, y series) int {
		return cmp.Or(cmp.Compare(x.volume, y.volume), cmp.Compare(x.caller, y.caller), cmp.Compare(x.node, y.node))
	}) {
		for _, what := range union(a[on], b[on], cmp.Compare[string]) {
			d.compared(Calls)
			inA, inB := a[on][what], b[on][what]
			switch {
			case len(inB) == 0 && a[on].counts(inA, b[on]):
				d.differ(Calls, on.String(), path.Base(inA[0].method)+" is only in A", []Row{{A: cell(inA[0].at, what)}}, 0)
			case len(inA) == 0 && b[on].counts(inB, a[on]):
				d.differ(Calls, on.String(), path.Base(inB[0].method)+" is only in B", []Row{{B: cell(inB[0].at, what)}}, 0)
			}
		}
	}
}

// counts reports whether calls that the other trace lacks are a difference.
func (c periodicCalls) counts(only []*call, other periodicCalls) bool {
	return len(only) >= rounds || len(c) == 1 && len(other) > 0
}

// periodicCalls returns the periodic calls of a trace. A node's loop queries each volume
// separately.
func (s *side) periodicCalls() map[series]periodicCalls {
	all := map[series]periodicCalls{}
	for _, c := range s.calls {
		if !periodic[c.method] {
			continue
		}
		on := series{c.volume, c.caller + " " + path.Base(c.method), c.node}
		if all[on] == nil {
			all[on] = periodicCalls{}
		}
		what := c.String() + " " + canonical(c.request)
		all[on][what] = append(all[on][what], c)
	}
	return all
}
