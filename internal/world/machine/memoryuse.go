package machine

import (
	"fmt"
	"time"
)

// memoryPoll is how often, in wall time, it is seen how much memory a program has: a program can fill some 400 MB in that time.
const memoryPoll = 100 * time.Millisecond

// PeakMemory is the most memory, in bytes, that the program itself was seen to have at once; 0 of one that has none to bound it.
func (p *Process) PeakMemory() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.peak
}

// Left are the commands of the processes that the program had started and that ran when it ended; they were ended then. It is known when
// it is done, of a program with a mount namespace.
func (p *Process) Left() []string { return p.left }

// boundMemory kills the program when it has more memory than its bound.
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

// lookAtMemory is for who holds the lock.
func (p *Process) lookAtMemory() {
	if p.most > 0 && !p.ended {
		p.peak = max(p.peak, peakMemory(p.pid))
	}
}

// greed is how a program ended that had more memory than its bound.
func (p *Process) greed() string {
	return fmt.Sprintf("killed by csisim: it had more memory than the %d MiB that it may have", p.most>>20)
}
