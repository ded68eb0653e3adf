package explore

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// BenchmarkExplore is how many runs of a search a core makes in a second: the life of a volume
// with faults, a driver in the process. At least 600, and 1,000 would be better. Calm runs and
// what a finding takes come on top, of which a sound driver has few.
func BenchmarkExplore(b *testing.B) {
	text := textOf(b, "lifecycle")
	before := computed(b)
	s, err := Of(context.Background(), "lifecycle.yaml", text, usual(b.N))
	require.NoError(b, err)
	for _, found := range s.Findings { // a hazard of Kubernetes comes up in some 2,000 runs
		assert.False(b, found.Fails(), found.Name)
	}
	used := computed(b) - before
	b.ReportMetric(float64(used.Microseconds())/float64(s.Runs), "cpu-µs/run")
	b.ReportMetric(float64(s.Runs)/used.Seconds(), "runs/cpu-s")
}

// computed is what the process has computed so far, garbage collection included.
func computed(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
