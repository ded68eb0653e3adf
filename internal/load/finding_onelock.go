package load

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A lock for calls of all kinds shows in the gap between the ends of two successive calls, while
// several calls are in progress. For some kinds the gap is about the time of a single call, and for
// no kind is it much shorter.
const (
	oneLockKinds = 3
	oneLockEnds  = 10  // of one kind
	oneLockLeast = 0.4 // multiple of a single call's time: the machine was busier during that call
	oneLockMost  = 3   // above this, there is another bottleneck
)

// oneAtATime describes each kind of calls that waits for calls of all kinds. It is nil if calls of
// different kinds overlap.
func (r *Result) oneAtATime() (texts []string) {
	if r.Levels[0].Volumes > 1 {
		return nil // the time of a single call is not known
	}
	gaps := r.Largest().gaps()
	for _, method := range r.Methods() {
		single, apart := r.Levels[0].fastest(method), Median(gaps[method])
		if !Changes(method) || len(gaps[method]) < oneLockEnds || single < alone {
			continue
		}
		if apart < oneLockLeast*single {
			return nil
		}
		busy := r.Largest().busyAt(method)
		if busy == 0 || busy > mostBusy || apart < leastShare*single || apart > oneLockMost*single {
			continue
		}
		texts = append(texts, fmt.Sprintf("%s ends %s after a call of any kind; a call alone takes %s", method, Millis(apart), Millis(single)))
	}
	if len(texts) < oneLockKinds {
		return nil
	}
	return texts
}

// gaps returns the times between the ends of two successive calls, in milliseconds, by the kind of
// the second. A Crowd of calls of all kinds is in progress meanwhile.
func (l Level) gaps() map[string][]float64 {
	all := map[string][]float64{}
	for _, run := range l.Runs {
		run.addGaps(all)
	}
	return all
}

func (run Run) addGaps(all map[string][]float64) {
	type call struct {
		edge
		method string
	}
	var edges []call
	for method, c := range run.Calls {
		for _, e := range c.edges() {
			edges = append(edges, call{e, method})
		}
	}
	slices.SortFunc(edges, func(a, b call) int { return cmp.Or(a.compare(b.edge), strings.Compare(a.method, b.method)) })
	open, since := 0, int64(0) // the last end, or the beginning of a call when none was under way
	for _, e := range edges {
		if e.open < 0 {
			if open >= Crowd {
				all[e.method] = append(all[e.method], float64(e.at-since)/1e3)
			}
			since = e.at
		} else if open == 0 {
			since = e.at
		}
		open += e.open
	}
}
