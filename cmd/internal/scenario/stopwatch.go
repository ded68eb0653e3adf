package scenario

import "time"

// stopwatch measures the wall time of a run. The run does not depend on it.
type stopwatch struct{ started time.Time }

func startStopwatch() stopwatch { return stopwatch{time.Now()} }

func (s stopwatch) elapsed() time.Duration { return time.Since(s.started) }
