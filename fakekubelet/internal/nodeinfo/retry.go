package nodeinfo

import (
	"fmt"
	"time"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/csisim/csisim/internal/world/kernel"
)

// backoff is a number of tries with growing pauses between them.
type backoff struct {
	tries  int
	first  time.Duration
	factor time.Duration
}

// The inner retry of every write, and the outer one of the initialisation. K-NODE-2, K-NODE-6
var (
	updateBackoff         = backoff{tries: 4, first: 10 * time.Millisecond, factor: 5}
	initializationBackoff = backoff{tries: 6, first: 30 * time.Millisecond, factor: 8}

	// oldInitializationBackoff is the backoff of v1.14. L-START-2
	oldInitializationBackoff = backoff{tries: 6, first: 15 * time.Millisecond, factor: 6}
)

// jitterPercent is the largest random addition to a pause.
const jitterPercent = 10

// retry tries until there is no error, and retries after any error. It returns the errors of all
// tries.
func (b backoff) retry(p *kernel.Process, try func() error) (failures []error) {
	pause := b.first
	for n := 1; ; n++ {
		err := try()
		if err == nil {
			return nil
		}
		failures = append(failures, err)
		if n == b.tries {
			return failures
		}
		jitter := p.Kernel().Choose(kernel.Jitter, jitterPercent+1, p.Name()+" retries")
		p.Sleep(pause + pause*time.Duration(jitter)/100)
		pause *= b.factor
	}
}

// update is one guarded read and write with the inner retry. K-NODE-6
func (m *Manager) update(p *kernel.Process, what string, try func() error) error {
	failures := updateBackoff.retry(p, func() error {
		m.writing.lock(p)
		defer m.writing.unlock()
		return try()
	})
	if failures == nil {
		return nil
	}
	return fmt.Errorf("error updating %s: timed out waiting for the condition; caused by: %w",
		what, utilerrors.NewAggregate(failures))
}
