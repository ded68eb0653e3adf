package explore

import (
	"context"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/clitest"
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
	os.Exit(clitest.WithBinaries(m))
}

// BenchmarkExplore measures how many runs of a search one core makes per second. The runs are a
// volume's life with faults and a driver in the process: with a pod on one node, and with a pod
// that moves to another node. The scenario with one node must reach 600 runs and should reach
// 1,000. Calm runs and the runs of findings come on top; a sound driver has few of them.
func BenchmarkExplore(b *testing.B) {
	for _, life := range []struct{ name, scenario string }{{"basic", "testdata/basic"}, {"move", "lifecycle"}} {
		b.Run(life.name, func(b *testing.B) { exploreLife(b, life.scenario, textOf(b, life.scenario)) })
	}
}

// BenchmarkExploreProgram is BenchmarkExplore with a driver program. Each run starts the program,
// and the programs' processor time counts, too. The goal is at least 20 runs per second.
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

// computed returns the processor time, including garbage collection, of this process and its exited
// children.
func computed(b *testing.B) (all time.Duration) {
	b.Helper()
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var used syscall.Rusage
		require.NoError(b, syscall.Getrusage(who, &used))
		all += time.Duration(used.Utime.Nano() + used.Stime.Nano())
	}
	return all
}
