package explore

import "slices"

// mostTrials bounds the runs that one finding may take to shrink.
const mostTrials = 400

// shrinking takes choices away as long as the run still shows the same.
type shrinking struct {
	// try runs with some choices and returns those that came up, if the run shows the finding.
	try    func([]Choice) ([]Choice, bool)
	trials int
	best   []Choice
}

// few is how many choices people can take in at a glance; orders of processes that need more are
// long to shrink.
const few = 16

// simplify leaves whole kinds of choices out, and shrinks what is left if it is little.
func (s *shrinking) simplify() {
	all := s.best
	keepers := []func(Choice) bool{Choice.IsFault, func(c Choice) bool { return !c.schedules() }, Choice.schedules}
	for _, keep := range keepers {
		if s.attempt(slices.DeleteFunc(slices.Clone(all), func(c Choice) bool { return !keep(c) })) {
			break
		}
	}
	if s.isShort() {
		s.halve()
	}
}

func (s *shrinking) isShort() bool { return len(s.best) <= few }

// attempt takes fewer choices if they are enough.
func (s *shrinking) attempt(fewer []Choice) bool {
	if s.trials >= mostTrials || len(fewer) >= len(s.best) {
		return false
	}
	s.trials++
	taken, ok := s.try(fewer)
	if ok {
		s.best = taken
	}
	return ok
}

// halve takes away ever smaller parts: delta debugging.
func (s *shrinking) halve() {
	for size := (len(s.best) + 1) / 2; size > 0; {
		if s.removeAny(size) {
			size = min(size, (len(s.best)+1)/2)
			continue
		}
		size /= 2
	}
}

// removeAny takes away every part of the size that is not needed; it reports whether there was one.
func (s *shrinking) removeAny(size int) bool {
	removed := false
	for from := 0; from < len(s.best) && s.trials < mostTrials; {
		to := min(from+size, len(s.best))
		if s.attempt(slices.Concat(s.best[:from], s.best[to:])) {
			removed = true
		} else {
			from = to
		}
	}
	return removed
}
