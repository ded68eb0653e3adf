package explore

import (
	"context"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/namespaces"
)

// TestMain has programs of drivers mount for themselves only, and makes the runs of searches that have them made by processes.
func TestMain(m *testing.M) {
	namespaces.Enter()
	if MakesRuns() {
		Serve(context.Background())
		return
	}
	os.Exit(m.Run())
}

// BenchmarkExplore is how many runs of a search a core makes in a second: the life of a volume
// with faults, a driver in the process, with one pod on one node and with a pod that moves to
// another. At least 600 of the former, and 1,000 would be better. Calm runs and what a finding
// takes come on top, of which a sound driver has few.
func BenchmarkExplore(b *testing.B) {
	for _, life := range []struct{ name, scenario string }{{"basic", "testdata/basic"}, {"move", "lifecycle"}} {
		b.Run(life.name, func(b *testing.B) { exploreLife(b, life.scenario, textOf(b, life.scenario)) })
	}
}

// BenchmarkExploreProgram is that with a driver's program, which is started anew in each run: the processes are counted, too. At
// least 20 would be good.
func BenchmarkExploreProgram(b *testing.B) {
	exploreLife(b, "lifecycle", withProgram(b, "lifecycle", buildHostdir(b)))
}

func exploreLife(b *testing.B, scenario string, text []byte) {
	before := computed(b)
	b.ResetTimer()
	s, err := Of(context.Background(), fileOf(scenario), text, usual(b.N))
	require.NoError(b, err)
	for _, found := range s.Findings { // a hazard of Kubernetes comes up in some 2,000 runs
		assert.False(b, found.Fails(), found.Name)
	}
	used := computed(b) - before
	b.ReportMetric(float64(used.Microseconds())/float64(s.Runs), "cpu-µs/run")
	b.ReportMetric(float64(s.Runs)/used.Seconds(), "runs/cpu-s")
}

// computed is what the process and those that it has started and that have ended have computed so far, garbage collection included.
func computed(b *testing.B) (all time.Duration) {
	b.Helper()
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var used syscall.Rusage
		require.NoError(b, syscall.Getrusage(who, &used))
		all += time.Duration(used.Utime.Nano() + used.Stime.Nano())
	}
	return all
}
