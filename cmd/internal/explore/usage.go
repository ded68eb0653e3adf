package explore

import (
	"sync"

	"github.com/csisim/csisim/cmd/internal/check"
	"github.com/csisim/csisim/sim"
)

// usage sums up the resources that driver programs used, and their leftovers, in all runs of a
// search, including simultaneous ones.
type usage struct {
	mu sync.Mutex
	check.Usage
}

func (u *usage) add(run []sim.Usage) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.Add(run)
}

// Usage renders the resources that driver programs used, and their leftovers, one per line.
func (s *Search) Usage() []string {
	s.usage.mu.Lock()
	defer s.usage.mu.Unlock()
	return s.usage.Lines()
}
