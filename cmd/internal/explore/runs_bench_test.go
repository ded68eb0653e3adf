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

// TestMain isolates the mounts of driver programs, and makes the runs of searches that use
// processes.
func TestMain(m *testing.M) {
	namespaces.Enter()
	if MakesRuns() {
		Serve(context.Background())
		return
	}
	var err error
	if drivers, err = os.MkdirTemp("", "drivers"); err != nil {
		panic(err)
	}
	code := m.Run()
	if err := os.RemoveAll(drivers); err != nil {
		panic(err)
	}
	os.Exit(code)
}

// BenchmarkExplore measures the number of runs of a search that a core makes per second. The runs
// are the life of a volume, with faults and a driver in the process, with one pod on one node, and
// with a pod that moves to another node. At least 600 of the former; 1,000 would be better. Calm
// runs and the runs of findings are additional; a sound driver has few of them.
func BenchmarkExplore(b *testing.B) {
	for _, life := range []struct{ name, scenario string }{{"basic", "testdata/basic"}, {"move", "lifecycle"}} {
		b.Run(life.name, func(b *testing.B) { exploreLife(b, life.scenario, textOf(b, life.scenario)) })
	}
}

// BenchmarkExploreProgram is BenchmarkExplore with a driver program, which each run starts anew:
// the processor time of the programs counts, too. At least 20 would be good.
func BenchmarkExploreProgram(b *testing.B) {
	exploreLife(b, "lifecycle", withProgram(b, "lifecycle", buildHostdir(b)))
}

func exploreLife(b *testing.B, scenario string, text []byte) {
	before := computed(b)
	b.ResetTimer()
	s, err := Of(context.Background(), fileOf(scenario), text, usual(b.N))
	require.NoError(b, err)
	for _, found := range s.Findings { // a hazard of Kubernetes occurs in some 2,000 runs
		assert.False(b, found.Fails(), found.Name)
	}
	used := computed(b) - before
	b.ReportMetric(float64(used.Microseconds())/float64(s.Runs), "cpu-µs/run")
	b.ReportMetric(float64(s.Runs)/used.Seconds(), "runs/cpu-s")
}

// computed returns the processor time that this process and its ended children have used so far,
// including garbage collection.
func computed(b *testing.B) (all time.Duration) {
	b.Helper()
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var used syscall.Rusage
		require.NoError(b, syscall.Getrusage(who, &used))
		all += time.Duration(used.Utime.Nano() + used.Stime.Nano())
	}
	return all
}
