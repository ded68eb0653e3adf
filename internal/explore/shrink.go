package explore

import "slices"

// mostTrials bounds the runs for shrinking one finding.
const mostTrials = 400

// shrinking removes choices while the run still shows the finding.
type shrinking struct {
	// try makes a run with some choices. If the run shows the finding, it returns the choices that
	// occurred.
	try    func([]Choice) ([]Choice, bool)
	trials int
	best   []Choice
}

// few is the number of choices that people can read at a glance. Findings with more choices take
// long to shrink.
const few = 16

// simplify leaves out whole kinds of choices, and shrinks the rest if it is small.
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

// attempt keeps fewer choices if they suffice.
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

// halve removes smaller and smaller parts: delta debugging.
func (s *shrinking) halve() {
	for size := (len(s.best) + 1) / 2; size > 0; {
		if s.removeAny(size) {
			size = min(size, (len(s.best)+1)/2)
			continue
		}
		size /= 2
	}
}

// removeAny removes every unnecessary part of the given size. It reports whether it removed any.
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
