package main

import "runtime/debug"

// A run allocates much and keeps little of it, and most runs are over in
// milliseconds: collecting rarely is worth the memory, up to a limit near which
// the runtime collects as often as it must. GOGC and GOMEMLIMIT override both.
const (
	gcPercent   = 400
	memoryLimit = 976 << 20 // what is not heap keeps the whole below 1 GiB
)

func (env environment) tuneMemory() {
	if env.getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if env.getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
}
