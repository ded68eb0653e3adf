package explore

import (
	"sync"

	"github.com/csisim/csisim/cmd/internal/scenario"
)

// met is what of a scenario's sometimes has come about in the runs of a search.
type met struct {
	statements []scenario.Statement

	mu   sync.Mutex
	seen map[int]bool
}

// add takes notice of what came about in one run.
func (m *met) add(run []bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, came := range run {
		if came {
			if m.seen == nil {
				m.seen = map[int]bool{}
			}
			m.seen[i] = true
		}
	}
}

// never lists what has not.
func (m *met) never() (all []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, s := range m.statements {
		if !m.seen[i] {
			all = append(all, s.String())
		}
	}
	return all
}
