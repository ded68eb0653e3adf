package machine

import "fmt"

// Limits bound the resources of a program and its children if csisim may create control groups: as
// root, or if they are delegated to its user. 0 means no limit.
type Limits struct {
	// Processes is the maximum number of processes, including threads.
	Processes int64
	// Memory is in bytes and includes files that the program writes to file systems in memory.
	Memory int64
}

// Limit changes the limits of the program. It has no effect on a program that was started without
// limits.
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

// OutOfMemory reports whether the kernel has killed the program, or one of its children, for lack
// of memory. It is final when the program has ended.
func (p *Process) OutOfMemory() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.outOfMemory
}
