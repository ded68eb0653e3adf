package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// A run allocates much and keeps little of it, and most runs are over in
// milliseconds: collecting rarely is worth the memory, as package earlygc says. GOMEMLIMIT
// overrides the limit.
const (
	smallestMemory = 976 << 20 // what is not heap keeps the whole below 1 GiB
	enoughMemory   = 5 << 29   // 2.5 GiB, to allocate between two collections
)

func (env environment) tuneMemory() {
	if env.getenv("GOMEMLIMIT") == "" {
		followLife(smallestMemory, machineMemory())
	}
}

// searchPercent is how much the heap may grow between two collections while runs follow one another of which nothing is kept: the
// 32 MB more spare a twelfth of the processor time. GOGC overrides it.
const searchPercent = 800

func (env environment) tuneSearch() (restore func()) {
	if env.getenv("GOGC") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(searchPercent)
	return func() { debug.SetGCPercent(before) }
}

// followLife sets the memory limit now and, until it is stopped, whenever garbage has
// been collected and what lives is known.
func followLife(smallest, machine int64) (stop func()) {
	limit := memoryLimit(0, smallest, machine)
	debug.SetMemoryLimit(limit)
	return afterCollections(func() {
		if next := memoryLimit(aliveMemory(), smallest, machine); next != limit {
			limit = next
			debug.SetMemoryLimit(limit)
		}
	})
}

// memoryLimit is the memory from which on garbage is collected as often as it takes. A
// run of which less than half the smallest lives gets by with that. Each collection of a
// larger one takes seconds of the processor, so that there are to be few: it may allocate
// twice what lives, of which 2.5 GiB are enough, and a quarter of what lives lies unused
// between what does. Three quarters of the machine's memory are the most that is taken. What
// does not fit into those would not become less by collecting: a quarter of what lives always
// remains to work with, or the collector would take the processor and free nothing.
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

// aliveMemory is what the last collection left, and what is no heap at all.
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

// afterCollections calls f after each collection of garbage until it is stopped.
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
