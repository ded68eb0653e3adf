// Package gogc sets how much the heap of the command may grow before garbage is collected.
//
// The packages of the command allocate 5 MB during initialization. With Go's default setting, this
// starts a collection that takes a tenth of the processor time of a short run. This package is
// initialized before them: it imports almost no packages, and Go initializes ready packages in the
// order of their import paths.
//
// It also disables the sampling of allocations, because the command has no memory profile. This
// must happen equally early.
package gogc

import (
	"os"
	"runtime"
	"runtime/debug"
)

// percent suits programs that run briefly, or have enough memory; GOGC overrides it.
const percent = 400

func init() {
	runtime.MemProfileRate = 0
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}
