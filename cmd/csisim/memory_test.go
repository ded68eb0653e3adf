package main

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheMemoryLimitLeavesRoomToWork(t *testing.T) {
	const mib, gib = 1 << 20, 1 << 30
	for _, of := range []struct{ alive, machine, want int64 }{
		{0, 0, 976 * mib},
		{10 * mib, 16 * gib, 976 * mib},
		{488 * mib, 16 * gib, 976 * mib},
		{512 * mib, 16 * gib, 1664 * mib}, // more than fits into the smallest limit
		{gib, 16 * gib, 3*gib + 256*mib},
		{4 * gib, 16 * gib, 7*gib + 512*mib},
		{4 * gib, 0, 7*gib + 512*mib},
		{20 * gib, 64 * gib, 27*gib + 512*mib},
		{5 * gib, 9 * gib, 6*gib + 768*mib}, // three quarters of the machine
		// The live memory exceeds the limit: a quarter stays free for allocations.
		{12 * gib, 16 * gib, 15 * gib},
		{10 * mib, 512 * mib, 384 * mib},
		{400 * mib, 512 * mib, 500 * mib},
	} {
		assert.Equal(t, of.want, memoryLimit(of.alive, smallestMemory, of.machine), "%d of %d", of.alive, of.machine)
	}
}

func TestTheMemoryLimitFollowsTheLiveObjects(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	stop := followLife(1<<20, func() int64 { return 0 })
	defer stop()
	assert.EqualValues(t, 1<<20, debug.SetMemoryLimit(-1), "nothing has been collected yet")
	kept := make([]byte, 64<<20)
	assert.Eventually(t, func() bool {
		runtime.GC()
		return debug.SetMemoryLimit(-1) >= 208<<20
	}, time.Minute, time.Millisecond)
	runtime.KeepAlive(kept)
	kept = nil
	assert.Eventually(t, func() bool {
		runtime.GC()
		return debug.SetMemoryLimit(-1) < 208<<20
	}, time.Minute, time.Millisecond, "freed memory needs no room")
}

func TestASearchCollectsGarbageLessOften(t *testing.T) {
	before := debug.SetGCPercent(400)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	for gogc, want := range map[string]int{"": searchPercent, "400": 400} {
		restore := environment{getenv: func(string) string { return gogc }}.tuneSearch()
		now := debug.SetGCPercent(400)
		assert.Equal(t, want, now, "GOGC=%s", gogc)
		restore()
		assert.Equal(t, 400, debug.SetGCPercent(400))
	}
}

func TestTheUsersMemoryLimitHolds(t *testing.T) {
	before := debug.SetMemoryLimit(math.MaxInt64)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	environment{getenv: func(string) string { return "5GiB" }}.tuneMemory()
	require.EqualValues(t, int64(math.MaxInt64), debug.SetMemoryLimit(-1))
}
