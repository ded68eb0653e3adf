package machine

// Limits bound what a program may take, with all that it starts, where csisim may make control groups: as root, or where they are
// delegated to its user. 0 is no bound.
type Limits struct {
	// Processes is how many of them there may be, threads included.
	Processes int64
	// Memory is in bytes, files that it writes to file systems in memory included.
	Memory int64
}

// OutOfMemory reports whether the kernel has killed the program, or what it started, for want of memory. It is known at its end.
func (p *Process) OutOfMemory() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.outOfMemory
}
