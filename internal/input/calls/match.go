package calls

import (
	"slices"

	"github.com/csisim/csisim/internal/world/trace"
)

// Wanted is an ordered list of calls that must be found in a run.
type Wanted struct {
	Patterns []Pattern
	// Exact means that no other call may occur in between.
	Exact bool
}

// Relevant removes calls that only request capabilities, unless a pattern names them.
func Relevant(all []*trace.Event, patterns []Pattern) []*trace.Event {
	var kept []*trace.Event
	for _, e := range all {
		method := Short(e.Method)
		named := func(p Pattern) bool { return p.Call == method }
		if !asking[method] || slices.ContainsFunc(patterns, named) {
			kept = append(kept, e)
		}
	}
	return kept
}

// Gap is the first difference between the calls of a run and the wanted calls.
type Gap struct {
	Pattern int // the pattern that was not found; the number of patterns if a call is superfluous
	After   int // the number of calls that match before the gap
}

// Match compares the calls to the wanted ones; nil means that they match.
func (w Wanted) Match(all []*trace.Event, names *Names) *Gap {
	m := matcher{exact: w.Exact, elements: w.elements(), all: all, names: names, seen: map[state]bool{}}
	if m.from(state{}) {
		return nil
	}
	gap := m.furthest
	gap.Pattern = min(gap.Pattern, len(w.Patterns))
	return &gap
}

// element is a pattern, its number of calls, and whether other calls may precede it.
type element struct {
	Pattern
	number int // the number of the pattern in the file
	count  Count
	loose  bool
}

// elements removes the gaps, written as "...", and marks the next pattern.
func (w Wanted) elements() []element {
	var all []element
	loose := !w.Exact
	for i, p := range w.Patterns {
		if p.Call == Anything {
			loose = true
			continue
		}
		all = append(all, element{Pattern: p, number: i, count: p.Count.Or(1, 1), loose: loose})
		loose = !w.Exact
	}
	return append(all, element{number: len(w.Patterns), loose: loose})
}

// state is a point of the search: calls before at are handled, and taken of them match the element.
type state struct{ element, taken, at int }

type matcher struct {
	exact    bool
	elements []element // the last one is the end
	all      []*trace.Event
	names    *Names
	seen     map[state]bool
	furthest Gap
}

// from reports whether the calls from the state on can be matched. It tries each state only once.
func (m *matcher) from(s state) bool {
	if m.seen[s] {
		return false
	}
	m.seen[s] = true
	now := m.elements[s.element]
	if reached := (Gap{Pattern: now.number, After: s.at}); s.taken > 0 || reached.Pattern > m.furthest.Pattern {
		m.reach(reached)
	}
	end := s.element == len(m.elements)-1
	if end && s.at == len(m.all) {
		return true
	}
	if !end && s.taken >= now.count.Min && m.from(state{s.element + 1, 0, s.at}) {
		return true
	}
	if s.at == len(m.all) {
		return false
	}
	fits := !end && now.Mismatch(m.all[s.at], m.names) == ""
	if fits && s.taken < now.count.Max && m.from(state{s.element, s.taken + 1, s.at + 1}) {
		return true
	}
	return m.maySkip(s, fits) && m.from(state{s.element, s.taken, s.at + 1})
}

func (m *matcher) reach(g Gap) {
	if g.Pattern > m.furthest.Pattern || g.Pattern == m.furthest.Pattern && g.After > m.furthest.After {
		m.furthest = g
	}
}

// maySkip reports whether the next call may be between the wanted calls. Other calls must be
// permitted there, and it must not match a counted element before or after it.
func (m *matcher) maySkip(s state, fits bool) bool {
	now := m.elements[s.element]
	switch {
	case !now.loose, fits && now.Count.Given:
		return false
	case s.taken > 0:
		return !m.exact && !m.isCounted(s.element+1, s.at)
	}
	return !m.isCounted(s.element-1, s.at)
}

// isCounted reports whether the call matches the element with that number, and the element has a
// count.
func (m *matcher) isCounted(element, at int) bool {
	if element < 0 || element >= len(m.elements) {
		return false
	}
	e := m.elements[element]
	return e.Count.Given && e.Mismatch(m.all[at], m.names) == ""
}
