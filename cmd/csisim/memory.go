package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
)

// A run allocates much memory and keeps little of it, and most runs end within milliseconds. It is
// therefore worth the memory to collect garbage rarely: see package gogc. GOMEMLIMIT overrides the
// limit.
const (
	smallestMemory = 976 << 20 // leaves room below 1 GiB for memory outside the heap
	enoughMemory   = 5 << 29   // 2.5 GiB, to allocate between two collections
)

func (env environment) tuneMemory() {
	if env.getenv("GOMEMLIMIT") == "" {
		followLife(smallestMemory, sync.OnceValue(machineMemory))
	}
}

// searchPercent is the growth of the heap between two collections during a search, which retains
// nothing of its runs. The additional 32 MB save a twelfth of the processor time. GOGC overrides
// it.
const searchPercent = 800

func (env environment) tuneSearch() (restore func()) {
	if env.getenv("GOGC") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(searchPercent)
	return func() { debug.SetGCPercent(before) }
}

// followLife sets the memory limit now, and updates it after each garbage collection from the size
// of the live heap until it is stopped. Most commands end before the first collection, and never
// read how much memory the machine has.
func followLife(smallest int64, machine func() int64) (stop func()) {
	limit := smallest
	debug.SetMemoryLimit(limit)
	return afterCollections(func() {
		if next := memoryLimit(aliveMemory(), smallest, machine()); next != limit {
			limit = next
			debug.SetMemoryLimit(limit)
		}
	})
}

// memoryLimit returns the limit above which garbage is collected as often as necessary.
//
// The smallest limit suffices while less than half of it is live. Each collection of a larger heap
// takes seconds of processor time, so collections should be rare: the limit then leaves room to
// allocate twice the live memory, at most 2.5 GiB, plus a quarter of it for fragmentation.
//
// The limit is at most three quarters of the machine's memory, but always leaves a quarter of the
// live memory free. With less free memory, collections would use processor time without freeing
// any.
func memoryLimit(alive, smallest, machine int64) int64 {
	limit := smallest
	if alive > smallest/2 {
		limit = alive + alive/4 + min(2*alive, enoughMemory)
	}
	if machine > 0 {
		limit = min(limit, machine/4*3)
	}
	return max(limit, alive+alive/4)
}

// aliveMemory returns the heap that the last collection left, plus all memory outside the heap.
func aliveMemory() int64 {
	samples := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"},
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"},
		{Name: "/memory/classes/heap/free:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
	}
	metrics.Read(samples)
	alive := samples[0].Value.Uint64() + samples[1].Value.Uint64()
	for _, heap := range samples[2:] {
		alive -= heap.Value.Uint64()
	}
	return int64(alive)
}

// afterCollections calls f after each garbage collection until it is stopped.
func afterCollections(f func()) (stop func()) {
	var stopped atomic.Bool
	var wait func()
	wait = func() {
		garbage := &struct{ self *byte }{} // small objects without a pointer are freed in groups
		runtime.AddCleanup(garbage, func(struct{}) {
			if !stopped.Load() {
				f()
				wait()
			}
		}, struct{}{})
	}
	wait()
	return func() { stopped.Store(true) }
}
