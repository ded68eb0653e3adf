package check

import (
	"strings"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/world/trace"
)

// BeyondMachine is the trial as one that was not tried, if this machine, and not the driver, has failed; else nil.
func (t *Trial) BeyondMachine(r *scenario.Result) *Trial {
	if why := beyond(r); why != "" {
		return t.without(Machine, why)
	}
	return nil
}

// beyond says why a trial failed that this machine, and not the driver, has failed; empty
// if it is the driver.
func beyond(r *scenario.Result) string {
	for _, e := range r.Trace {
		// resize2fs says so where the kernel wants CAP_SYS_RESOURCE.
		if e.Kind == trace.Call && strings.Contains(e.Message, "Permission denied to resize filesystem") && !mayResize() {
			return "CAP_SYS_RESOURCE is missing: without it the kernel grows no mounted file system"
		}
	}
	return ""
}
