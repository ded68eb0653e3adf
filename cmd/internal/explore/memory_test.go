package explore

import (
	"context"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A run allocates a megabyte, and only its findings stay in memory.
func TestALongerSearchNeedsNoMoreMemory(t *testing.T) {
	const few, many = 10, 70
	alive := map[int]uint64{}
	o := usual(many)
	o.Progress = func(at *Search) {
		if at.Runs == few || at.Runs == many {
			runtime.GC()
			var memory runtime.MemStats
			runtime.ReadMemStats(&memory)
			alive[at.Runs] = memory.HeapAlloc
		}
	}
	_, err := Of(context.Background(), "lifecycle.yaml", textOf(t, "lifecycle"), o)
	require.NoError(t, err)
	require.Len(t, alive, 2)
	const noise = 8 << 20
	assert.Less(t, alive[many], alive[few]+noise)
}
