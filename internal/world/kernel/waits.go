package kernel

import (
	"fmt"
	"strings"
	"time"
)

// Wait is the condition that a process waits for from an instant on. For is empty if the process
// has ended, or waits only for housekeeping to be due.
type Wait struct{ Process, For string }

// waits follows the conditions that processes wait for.
type waits struct {
	changed func([]Wait)
	stirred []*Process // have run, begun or ended since the last report
}

// OnWaits calls changed, before the clock moves, with the waits that have changed since the last
// move. The first call has all of them. changed must not change anything.
func (k *Kernel) OnWaits(changed func([]Wait)) {
	k.waits = &waits{changed: changed}
	for _, p := range k.alive() {
		p.known, p.stirred = "", false
		k.waits.note(p)
	}
}

// note schedules the check of a process. waits is nil without OnWaits.
func (w *waits) note(p *Process) {
	if w == nil || p.stirred {
		return
	}
	p.stirred = true
	w.stirred = append(w.stirred, p)
}

// ReportWaits is called before the clock moves, and once more at the end of a run.
func (k *Kernel) ReportWaits() {
	if k.waits == nil || len(k.waits.stirred) == 0 {
		return
	}
	var changed []Wait
	for _, p := range k.waits.stirred {
		p.stirred = false
		if now := p.waitsLong(); now != p.known {
			p.known = now
			changed = append(changed, Wait{p.name, now})
		}
	}
	clear(k.waits.stirred)
	k.waits.stirred = k.waits.stirred[:0]
	if len(changed) > 0 {
		k.waits.changed(changed)
	}
}

// soon is the longest wait that is not reported, because polls repeat.
const soon = time.Second

// waitsLong returns the condition for which a process waits. If the process only sleeps until its
// next poll, it returns the previous condition.
func (p *Process) waitsLong() string {
	switch {
	case p.state == ended, p.timer != nil && p.timer.idle:
		return ""
	case p.timer == nil:
		return p.why
	case p.timer.at-p.k.now >= soon:
		return fmt.Sprintf("%s (until %v)", p.why, p.timer.at.Round(time.Millisecond))
	case p.defersWakes, strings.HasPrefix(p.known, p.why+" (until "):
		return p.known
	}
	return p.why
}
