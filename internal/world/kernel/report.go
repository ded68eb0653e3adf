package kernel

import (
	"fmt"
	"strings"
	"time"
)

// Waiting lists the conditions that the processes wait for: the answer to "why does nothing
// happen?". Processes with the same condition are listed in one line.
func (k *Kernel) Waiting() []string {
	var order []string
	byReason := map[string][]string{}
	for _, p := range k.alive() {
		reason := p.waitsFor()
		if reason == "" {
			continue
		}
		if byReason[reason] == nil {
			order = append(order, reason)
		}
		byReason[reason] = append(byReason[reason], p.name)
	}
	lines := make([]string, 0, len(order))
	for _, reason := range order {
		lines = append(lines, fmt.Sprintf("%s: waits for %s", names(byReason[reason]), reason))
	}
	return lines
}

func (p *Process) waitsFor() string {
	switch {
	case p.state == ready || p.state == executing:
		return "its turn"
	case p.timer != nil && p.timer.idle:
		return ""
	case p.timer != nil:
		return fmt.Sprintf("%s (until %v)", p.why, p.timer.at.Round(time.Millisecond))
	default:
		return p.why
	}
}

func names(all []string) string {
	const shown = 4
	if len(all) <= shown {
		return strings.Join(all, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(all[:shown], ", "), len(all)-shown)
}

func (k *Kernel) livelock(last *Process) error {
	return fmt.Errorf("livelock: %d steps at %v and virtual time does not move; last was %s; ready: %s",
		k.opts.MaxStepsPerInstant, k.now, last.name, k.readyNames())
}

func (k *Kernel) readyNames() string {
	all := make([]string, 0, k.ready.len())
	for i := range k.ready.len() {
		all = append(all, k.ready.at(i).name)
	}
	return names(all)
}
