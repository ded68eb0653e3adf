package calls

import (
	"slices"

	"github.com/csisim/csisim/internal/world/trace"
)

// Wanted is an ordered list of calls that must be found in a run.
type Wanted struct {
	Patterns []Pattern
	// Exact says that no other call may stand between.
	Exact bool
}

// Relevant leaves out the calls by which callers only ask for capabilities, unless one of the patterns
// asks for them.
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

// Gap is where the calls of a run part from the wanted ones.
type Gap struct {
	Pattern int // that was looked for and not found; the number of patterns if there is a call too many
	After   int // calls of the run that could be matched up to there
}

// Match holds the calls against the wanted ones; nil means that they agree.
func (w Wanted) Match(all []*trace.Event, names *Names) *Gap {
	m := matcher{exact: w.Exact, elements: w.elements(), all: all, names: names, seen: map[state]bool{}}
	if m.from(state{}) {
		return nil
	}
	gap := m.furthest
	gap.Pattern = min(gap.Pattern, len(w.Patterns))
	return &gap
}

// element is a pattern, how often its calls come, and whether other calls may stand before it.
type element struct {
	Pattern
	number int // of the pattern in the file
	count  Count
	loose  bool
}

// elements resolves the gaps that ... stands for.
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

// state is a point of the search: calls before at are dealt with, taken calls are matched to the element.
type state struct{ element, taken, at int }

type matcher struct {
	exact    bool
	elements []element // the last one stands for the end
	all      []*trace.Event
	names    *Names
	seen     map[state]bool
	furthest Gap
}

// from says whether the calls from the state on can be matched. A state that was tried is not tried again.
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

// maySkip says whether the next call may stand between the wanted ones: where there may be others, and
// where it is not one more of those that are counted, before it or after it.
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

// isCounted says whether the call fits an element, if there is one of that number, whose calls are counted.
func (m *matcher) isCounted(element, at int) bool {
	if element < 0 || element >= len(m.elements) {
		return false
	}
	e := m.elements[element]
	return e.Count.Given && e.Mismatch(m.all[at], m.names) == ""
}
