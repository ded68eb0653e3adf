package component

import (
	"time"

	"github.com/csisim/csisim/internal/world/kernel"
)

// Pace is the time that programs take for their actions; it may change while they run. Without a
// pace, and at zero, they take no virtual time.
type Pace struct {
	// Request is the duration of each request to the API server, before it has its effect.
	Request time.Duration
}

// SetPace sets the component's pace from now on.
func (c *Component) SetPace(p *Pace) { c.pace = p }

// walk takes the time of a request.
func (p *Pace) walk(process *kernel.Process) {
	if p != nil && p.Request > 0 {
		process.WaitUntil("its request to the API server", process.Elapsed()+p.Request, func() bool { return false })
	}
}
