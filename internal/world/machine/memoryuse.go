package machine

import (
	"fmt"
	"time"
)

// memoryPoll is the wall time between two checks of a program's memory. A program can fill some 400
// MB in that time.
const memoryPoll = 100 * time.Millisecond

// PeakMemory returns the highest observed memory usage of the program itself, in bytes; 0 without a
// limit.
func (p *Process) PeakMemory() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.peak
}

// Left returns the commands of child processes that were still running when the program ended, and
// were then killed. A killed program could not end its children, so the result is empty. The result
// is final after Done, for a program with a mount namespace.
func (p *Process) Left() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.killed {
		return nil
	}
	return p.left
}

// boundMemory kills the program when it exceeds its memory limit.
func (p *Process) boundMemory() {
	ticker := time.NewTicker(memoryPoll)
	defer ticker.Stop()
	for {
		select {
		case <-p.done:
			return
		case <-ticker.C:
			p.mu.Lock()
			p.lookAtMemory()
			if p.peak > p.most && !p.ended {
				p.greedy = true
				p.killGroup()
			}
			p.mu.Unlock()
		}
	}
}

// lookAtMemory updates the peak. The caller must hold the lock.
func (p *Process) lookAtMemory() {
	if p.most > 0 && !p.ended {
		p.peak = max(p.peak, peakMemory(p.pid))
	}
}

// greed describes the end of a program that exceeded its memory limit.
func (p *Process) greed() string {
	return fmt.Sprintf("killed by csisim: it had more memory than the %d MiB that it may have", p.most>>20)
}
