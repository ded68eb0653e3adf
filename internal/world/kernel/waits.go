package kernel

import (
	"fmt"
	"strings"
	"time"
)

// Wait is what a process waits for from an instant on. For is empty if it has ended, or waits only until housekeeping is due.
type Wait struct{ Process, For string }

// waits follows what processes wait for.
type waits struct {
	changed func([]Wait)
	stirred []*Process // have run, begun or ended since the last time
}

// OnWaits calls changed, before the clock moves, with what processes wait for if that is not what they waited for when
// it last moved; the first time with all there is. It must change nothing.
func (k *Kernel) OnWaits(changed func([]Wait)) {
	k.waits = &waits{changed: changed}
	for _, p := range k.alive() {
		p.known, p.stirred = "", false
		k.waits.note(p)
	}
}

// note remembers to look at a process. waits is nil if nobody follows.
func (w *waits) note(p *Process) {
	if w == nil || p.stirred {
		return
	}
	p.stirred = true
	w.stirred = append(w.stirred, p)
}

// ReportWaits is what happens before the clock moves; a run that ends calls it once more.
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

// soon is how near a time is that is not worth being reported: polls come again and again.
const soon = time.Second

// waitsLong is what a process waits for, what it was known to wait for if it only sleeps until its next poll.
func (p *Process) waitsLong() string {
	switch {
	case p.state == ended, p.timer != nil && p.timer.idle:
		return ""
	case p.timer == nil:
		return p.why
	case p.timer.at-p.k.now >= soon:
		return fmt.Sprintf("%s (until %v)", p.why, p.timer.at.Round(time.Millisecond))
	case p.deaf, strings.HasPrefix(p.known, p.why+" (until "):
		return p.known
	}
	return p.why
}
