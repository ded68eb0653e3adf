package expect

import (
	"github.com/csisim/csisim/internal/judge/data"
	"github.com/csisim/csisim/internal/world/trace"
)

// Data expects that pods find the content that was written to their volumes.
type Data struct{}

// String returns the expectation in words.
func (Data) String() string { return "each pod finds in its volumes the data that was written there" }

// Failure reports a pod that does not find its content.
func (d Data) Failure(ev *Evidence) *Failure {
	f := ev.never(d.String(), ev.LostData(), trace.DataLost)
	if f != nil {
		f.Hint = data.Advice(f.Verdict)
	}
	return f
}
