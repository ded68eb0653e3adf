package kernel

// Mark records that the running process has caused something to which others may react, such as the
// trace event numbered n. It returns the number of the event that caused this step of the process;
// 0 if there is none.
func (k *Kernel) Mark(n uint64) (cause uint64) {
	if k.running == nil {
		k.outside = n
		return 0
	}
	cause, k.running.cause = k.running.cause, n
	return cause
}

// because sets the cause of a process that is started or woken.
func (k *Kernel) because(p *Process) {
	if k.running != nil {
		p.cause = k.running.cause
	} else {
		p.cause = k.outside
	}
}

// Running returns the process that runs at the moment; nil between steps.
func (k *Kernel) Running() *Process { return k.running }
