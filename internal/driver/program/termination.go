package program

import (
	"fmt"
	"slices"
	"strings"
)

// Termination says how the latest instance ended, with the panic if its log shows one, and
// the lines of the log that show it.
func (p *Program) Termination() (how string, log []string) {
	how = p.Exit()
	lines := lastLines(p.Log(), panicBytes)
	if i := slices.IndexFunc(lines, isPanic); i >= 0 {
		return fmt.Sprintf("%s (%s)", lines[i], how), lines[i:min(len(lines), i+tailLines)]
	}
	return how, lines[max(0, len(lines)-tailLines):]
}

// panicBytes is how far from its end a log is searched for a panic: the stacks of all
// goroutines follow it.
const panicBytes = 512 << 10

// isPanic reports whether a line is how Go, or Rust, begins to report its end.
func isPanic(line string) bool {
	return strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") ||
		strings.HasPrefix(line, "thread '") && strings.Contains(line, "' panicked at ")
}
