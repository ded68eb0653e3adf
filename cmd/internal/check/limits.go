package check

import (
	"strings"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/world/trace"
)

// BeyondMachine returns the trial as one that was not tried if this machine caused the failure; nil
// if the driver caused it.
func (t *Trial) BeyondMachine(r *scenario.Result) *Trial {
	if why := beyond(r); why != "" {
		return t.without(Machine, why)
	}
	return nil
}

// beyond returns the reason if this machine caused the failure of a trial; "" if the driver caused
// it.
func beyond(r *scenario.Result) string {
	for _, e := range r.Trace {
		// resize2fs says so where the kernel wants CAP_SYS_RESOURCE.
		if e.Kind == trace.Call && strings.Contains(e.Message, "Permission denied to resize filesystem") && !mayResize() {
			return "CAP_SYS_RESOURCE is missing: without it the kernel grows no mounted file system"
		}
	}
	return ""
}
