package check

import "github.com/csisim/csisim/cmd/internal/scenario"

// Shown returns the findings of a run of any scenario, causes first; none if it passed.
func Shown(result *scenario.Result) []Finding {
	return shownBy(Outcome{Trial: &Trial{}, Result: result})
}

// Unite gives one name to findings of several runs that are two forms of one defect.
func Unite(shown []Finding) { unite([][]Finding{shown}) }
