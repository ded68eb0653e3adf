package component

import (
	"time"

	"github.com/csisim/csisim/internal/world/kernel"
)

// Pace is the time that programs need for their actions. It may change while they run. If the pace
// is missing or zero, actions take no virtual time.
type Pace struct {
	// Request is the duration of each API request before it takes effect.
	Request time.Duration
}

// SetPace sets the component's pace from now on.
func (c *Component) SetPace(p *Pace) { c.pace = p }

// walk lets a process wait for the duration of a request.
func (p *Pace) walk(process *kernel.Process) {
	if p != nil && p.Request > 0 {
		process.WaitUntil("its request to the API server", process.Elapsed()+p.Request, func() bool { return false })
	}
}
