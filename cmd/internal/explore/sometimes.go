package explore

import (
	"sync"

	"github.com/csisim/csisim/cmd/internal/scenario"
)

// met records which statements in the scenario's sometimes were true in the runs of a search.
type met struct {
	statements []scenario.Statement

	mu   sync.Mutex
	seen map[int]bool
}

// add adds the statements that were true in one run.
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

// never lists the statements that were never true.
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
