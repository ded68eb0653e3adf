package machine

import "fmt"

// Limits bound what a program may take, with all that it starts, where csisim may make control groups: as root, or where they are
// delegated to its user. 0 is no bound.
type Limits struct {
	// Processes is how many of them there may be, threads included.
	Processes int64
	// Memory is in bytes, files that it writes to file systems in memory included.
	Memory int64
}

// Limit changes what bounds the program. Where nothing bounds it, nothing does afterwards.
func (p *Process) Limit(l Limits) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended || p.group == nil {
		return nil
	}
	if err := p.group.bound(l); err != nil {
		return fmt.Errorf("change the limits of a program: %w", err)
	}
	return nil
}

// OutOfMemory reports whether the kernel has killed the program, or what it started, for want of memory. It is known at its end.
func (p *Process) OutOfMemory() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.outOfMemory
}
