// Package earlygc sets how much the heap of the command may grow before garbage is collected.
//
// The packages that the command links allocate 5 MB while they initialize, which with Go's default starts a collection:
// a tenth of the processor time of a short run. This package is initialized before them, for it needs next to no other
// one, and Go takes packages that are ready by their import paths.
//
// It also turns off the sampling of allocations, which Go wants as early: the command shows no profile of its memory.
package earlygc

import (
	"os"
	"runtime"
	"runtime/debug"
)

// percent is for programs that live a moment, or have memory to spare; GOGC overrides it.
const percent = 400

func init() {
	runtime.MemProfileRate = 0
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}
