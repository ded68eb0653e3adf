package program

import (
	"fmt"
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/world/lazyregexp"
)

// Termination describes the end of the latest instance, with the panic if its log shows one, and
// the log lines about it.
func (p *Program) Termination() (how string, log []string) {
	how = p.Exit()
	lines := lastLines(p.Log(), panicBytes)
	if i := slices.IndexFunc(lines, isPanic); i >= 0 {
		return fmt.Sprintf("%s (%s)", lines[i], how), lines[i:min(len(lines), i+tailLines)]
	}
	return how, lines[max(0, len(lines)-tailLines):]
}

// PanickedIn returns the RPC with the handler that panicked in the latest instance: ListVolumes. It
// is empty if the log has no stack of Go, or if another goroutine panicked.
func (p *Program) PanickedIn() string {
	lines := lastLines(p.Log(), panicBytes)
	begun := slices.IndexFunc(lines, isPanic)
	if begun < 0 {
		return ""
	}
	stacks := 0
	for _, line := range lines[begun:] {
		if strings.HasPrefix(line, "goroutine ") {
			stacks++
		}
		if stacks > 1 {
			return "" // the first one belongs to the panic
		}
		if handler := rpcHandler().FindStringSubmatch(line); handler != nil {
			return handler[1]
		}
	}
	return ""
}

// rpcHandler matches a frame of the code that protoc-gen-go-grpc generates for an RPC of CSI.
var rpcHandler = lazyregexp.New(`/csi\._(?:Identity|Controller|GroupController|Node|SnapshotMetadata)_(\w+)_Handler\b`)

// panicBytes is the size of the end of a log that is searched for a panic: the stacks of all
// goroutines follow it.
const panicBytes = 512 << 10

// isPanic reports whether a line begins a crash report of Go or of Rust.
func isPanic(line string) bool {
	return strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") ||
		strings.HasPrefix(line, "thread '") && strings.Contains(line, "' panicked at ")
}
