package sim_test

import (
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"testing"
	"time"

	"github.com/csisim/csisim/sim"
)

// BenchmarkVolumeMemory measures the memory that each further volume retains while its pod runs, on
// a node of fifty. 100,000 volumes must fit into 8 GiB with all other memory. With HEAP_PROFILE it
// writes two heap profiles, PROFILE.before and PROFILE.after. Their difference shows the use of
// memory:
//
//	go tool pprof -base PROFILE.before PROFILE.after
func BenchmarkVolumeMemory(b *testing.B) {
	const first, volumes = 2000, 2000 // caches with a bound are full after the first volumes
	var alive uint64
	for b.Loop() {
		c := benchCluster(b, (first+volumes)/50)
		bringUp(b, c, 0, first)
		before := heapAlive()
		writeHeapProfile(b, "before")
		bringUp(b, c, first, first+volumes)
		alive += heapAlive() - before
		writeHeapProfile(b, "after")
		must(b, c.Close())
	}
	b.ReportMetric(float64(alive)/float64(b.N*volumes), "B/volume")
}

// bringUp brings up pods with a volume each.
func bringUp(b *testing.B, c *sim.Simulation, from, to int) {
	nodes := c.Nodes()
	for i := from; i < to; i++ {
		name := fmt.Sprintf("v%d", i)
		apply(b, c, claim(name))
		apply(b, c, pod(name, nodes[i%len(nodes)]))
	}
	must(b, c.Settle(time.Hour))
}

// heapAlive returns the size of the heap after a garbage collection.
func heapAlive() uint64 {
	runtime.GC()
	runtime.GC() // the second collection also frees the contents of pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func writeHeapProfile(b *testing.B, when string) {
	name := os.Getenv("HEAP_PROFILE")
	if name == "" {
		return
	}
	f, err := os.Create(name + "." + when)
	must(b, err)
	must(b, pprof.WriteHeapProfile(f))
	must(b, f.Close())
}
