package machine_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/internal/world/machine"
)

func TestMemoryRunsNoPrograms(t *testing.T) {
	_, err := machine.NewMemory("node-1").Start(machine.Command{Path: "true"})
	assert.EqualError(t, err, "this node's machine is in memory: it cannot run programs")
}

func TestThousandsOfMachinesFitInMemory(t *testing.T) {
	const count = 1000
	machines := make([]machine.Machine, count)
	before := heap()
	for i := range machines {
		machines[i] = machine.NewMemory("node")
	}
	perMachine := (heap() - before) / count
	runtime.KeepAlive(machines)
	assert.Less(t, perMachine, int64(4096), "bytes of an empty machine")
}

func heap() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

func BenchmarkMemoryPublish(b *testing.B) {
	m := machine.NewMemory("node-1")
	_ = m.MkdirAll(volume, 0o750)
	for b.Loop() {
		_ = m.MkdirAll(pod, 0o750)
		_ = m.BindMount(volume, pod, false)
		_ = m.Unmount(pod)
		_ = m.RemoveAll("/var/lib/kubelet/pods")
	}
}
