package registrar

import (
	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/world/kernel"
)

// supervise runs the program and restarts it when it exits.
func (r *Registrar) supervise(p *kernel.Process) {
	for n := 1; ; n++ {
		started := p.Elapsed()
		r.note("the registrar exits: %v", r.run(p))
		r.registered = false
		if r.listener != nil { // os.Exit cleans nothing up: the socket stays
			r.listener.Abandon()
			r.listener = nil
		}
		if p.Elapsed()-started >= sidecar.Stable {
			n = 1
		}
		delay := r.options.RestartDelay(n)
		if delay < 0 {
			r.program = nil
			return
		}
		p.Sleep(delay)
	}
}
