package registrar

import (
	"time"

	"github.com/csisim/csisim/sim/kernel"
)

// CrashLoop is how long a kubelet waits before it restarts a container for the
// n-th time: not at all, then 10 s, doubling up to 5 minutes.
func CrashLoop(n int) time.Duration {
	const first, longest = 10 * time.Second, 5 * time.Minute
	if n <= 1 {
		return 0
	}
	delay := first
	for ; n > 2 && delay < longest; n-- {
		delay *= 2
	}
	return min(delay, longest)
}

// stable is how long a program must have run for its restarts to be counted anew.
const stable = 10 * time.Minute

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
		if p.Elapsed()-started >= stable {
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
